-- Whether the counter that an order was signed under was in the logs when the order came. If a reorg has taken that log
-- away since, nobody has that counter.
alter table signed_order
  add column is_counter_logged boolean not null default false;
