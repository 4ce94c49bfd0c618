-- Seaport orders that makers sent us, signed and on no chain. What becomes of them is in the on-chain tables; these rows
-- never change, and survive every rebuild. Columns as in `trade_order`.
create table signed_order (
  chain_id bigint not null,
  exchange_address bytea not null,
  order_hash bytea not null,
  side text not null check (side in ('listing', 'offer')),
  maker bytea not null,
  contract_address bytea not null,
  token_id numeric(78, 0),
  quantity numeric(78, 0) not null,
  currency_address bytea not null,
  start_amount numeric(78, 0) not null,
  end_amount numeric(78, 0) not null,
  unit_price numeric(78, 0),
  amounts text,
  start_time bigint not null,
  end_time bigint not null,
  counter numeric(78, 0) not null,
  operator bytea not null,
  taker bytea,
  broker bytea not null,
  placed_timestamp bigint not null,
  -- What a taker needs to fill it.
  parameters text not null,
  signature bytea not null,
  primary key (chain_id, exchange_address, order_hash)
);

create index signed_order_token on signed_order (chain_id, contract_address, token_id, side);
create index signed_order_floor on signed_order (chain_id, contract_address, unit_price) where side = 'listing';
create index signed_order_maker on signed_order (chain_id, maker, contract_address) where side = 'listing';
