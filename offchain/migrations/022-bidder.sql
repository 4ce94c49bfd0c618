-- Bidders are asked for in turn, out of rows of their own: their offers may be millions, and reading them all to find who is
-- next took seconds. So who is behind an offer that somebody sent has a row from then on, at first with null: never asked.
alter table offer_funds alter column spendable drop not null;

create index offer_funds_due on offer_funds (chain_id, checked_at);

-- A trigger, so that whoever stores an offer needs to know nothing of the turn. An offer of a bidder who is known puts them
-- first again: who is just being forgotten, with their last offer over, is kept.
-- Offers in the chain's own currency are paid when they are made.
create function offchain.put_bidders_first() returns trigger language plpgsql as $$
begin
  insert into offchain.offer_funds (chain_id, currency_address, maker, operator, checked_at)
  select distinct
    chain_id,
    currency_address,
    maker,
    operator,
    now() - interval '1 hour'
  from placed
  where
    side = 'offer'
    and currency_address <> '\x0000000000000000000000000000000000000000'
  on conflict (chain_id, currency_address, maker, operator) do update
  set checked_at = excluded.checked_at;
  return null;
end $$;

create trigger signed_order_inserted
  after insert on signed_order
  referencing new table as placed
  for each statement
  execute function offchain.put_bidders_first();

insert into offer_funds (chain_id, currency_address, maker, operator, checked_at)
select distinct
  chain_id,
  currency_address,
  maker,
  operator,
  now() - interval '1 hour'
from signed_order
where
  side = 'offer'
  and end_time > extract(epoch from now())
  and currency_address <> '\x0000000000000000000000000000000000000000'
on conflict do nothing;

-- All orders of a maker that aren't over are counted.
create index signed_order_unended on signed_order (chain_id, maker, end_time);
