-- Wallets that are contracts say themselves whether they signed, and may say otherwise later: the worker asks them again.
alter table signed_order
  -- What the wallet is asked about; null where a key signed, which stands for ever.
  add column contract_digest bytea,
  -- The wallet said last that it didn't sign.
  add column is_disowned boolean not null default false;

create index signed_order_contract on signed_order (chain_id, end_time, exchange_address, order_hash)
  where contract_digest is not null;
