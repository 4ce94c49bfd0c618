-- What bidders could pay when the worker last asked: of one currency, to whom an offer lets take it. Nothing of it is in
-- the logs of tokens. No row: never asked.
create table offer_funds (
  chain_id bigint not null,
  currency_address bytea not null,
  maker bytea not null,
  operator bytea not null,
  -- The lesser of balance and allowance.
  spendable numeric(78, 0) not null,
  checked_at timestamptz not null default now(),
  primary key (chain_id, currency_address, maker, operator)
);

create index signed_order_offer on signed_order (chain_id, maker, currency_address, operator, end_time)
  where side = 'offer';
