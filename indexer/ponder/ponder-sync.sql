-- `ponder_sync` as the migrations of Ponder 0.17.7 leave it, one after the other.

create schema if not exists ponder_sync;

create table ponder_sync.blocks (
  base_fee_per_gas numeric(78),
  chain_id bigint,
  difficulty numeric(78) not null,
  extra_data text not null,
  gas_limit numeric(78) not null,
  gas_used numeric(78) not null,
  hash varchar(66) not null,
  logs_bloom varchar(514) not null,
  miner varchar(42) not null,
  mix_hash varchar(66),
  nonce varchar(18),
  number bigint,
  parent_hash varchar(66) not null,
  receipts_root varchar(66) not null,
  sha3_uncles varchar(66),
  size numeric(78) not null,
  state_root varchar(66) not null,
  timestamp bigint not null,
  total_difficulty numeric(78),
  transactions_root varchar(66) not null,
  primary key (chain_id, number)
);

create table ponder_sync.factories (
  id integer generated always as identity,
  factory jsonb not null,
  primary key (id),
  unique (factory)
);

create table ponder_sync.factory_addresses (
  id integer generated always as identity,
  factory_id integer not null,
  chain_id bigint not null,
  block_number bigint not null,
  address text not null,
  primary key (id)
);

create table ponder_sync.intervals (
  fragment_id text,
  chain_id bigint not null,
  blocks nummultirange not null,
  primary key (fragment_id)
);

create table ponder_sync.kysely_migration (
  name varchar(255),
  timestamp varchar(255) not null,
  primary key (name)
);

create table ponder_sync.kysely_migration_lock (
  id varchar(255),
  is_locked integer default 0 not null,
  primary key (id)
);

create table ponder_sync.logs (
  address varchar(42) not null,
  block_hash varchar(66) not null,
  block_number bigint,
  chain_id bigint,
  data text not null,
  log_index integer,
  topic0 varchar(66),
  topic1 varchar(66),
  topic2 varchar(66),
  topic3 varchar(66),
  transaction_hash varchar(66) not null,
  transaction_index integer not null,
  primary key (chain_id, block_number, log_index)
);

create table ponder_sync.rpc_request_results (
  block_number bigint,
  chain_id bigint,
  result text not null,
  request_hash text,
  primary key (chain_id, request_hash)
);

create table ponder_sync.traces (
  chain_id bigint,
  type text not null,
  block_number bigint,
  "from" varchar(42) not null,
  "to" varchar(42),
  gas numeric(78) not null,
  gas_used numeric(78) not null,
  input text not null,
  output text,
  error text,
  revert_reason text,
  value numeric(78),
  trace_index integer,
  subcalls integer not null,
  transaction_index integer,
  primary key (chain_id, block_number, transaction_index, trace_index)
);

create table ponder_sync.transaction_receipts (
  block_hash varchar(66) not null,
  block_number bigint,
  chain_id bigint,
  contract_address varchar(66),
  cumulative_gas_used numeric(78) not null,
  effective_gas_price numeric(78) not null,
  "from" varchar(42) not null,
  gas_used numeric(78) not null,
  logs_bloom varchar(514) not null,
  status text not null,
  "to" varchar(42),
  transaction_hash varchar(66) not null,
  transaction_index integer,
  type text not null,
  primary key (chain_id, block_number, transaction_index)
);

create table ponder_sync.transactions (
  access_list text,
  block_hash varchar(66) not null,
  block_number bigint,
  chain_id bigint,
  "from" varchar(42) not null,
  gas numeric(78) not null,
  gas_price numeric(78),
  hash varchar(66) not null,
  input text not null,
  max_fee_per_gas numeric(78),
  max_priority_fee_per_gas numeric(78),
  nonce integer not null,
  r varchar(66),
  s varchar(66),
  "to" varchar(42),
  transaction_index integer,
  type text not null,
  value numeric(78) not null,
  v numeric(78),
  primary key (chain_id, block_number, transaction_index)
);

create index factories_factory_index on ponder_sync.factories (factory);
create index factory_addresses_factory_id_index on ponder_sync.factory_addresses (factory_id);
create index rpc_request_results_chain_id_block_number_index on ponder_sync.rpc_request_results (chain_id, block_number);

insert into ponder_sync.kysely_migration_lock (id) values ('migration_lock');

insert into ponder_sync.kysely_migration (name, timestamp)
select
  name,
  to_char(now() at time zone 'UTC' + place * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
from unnest(array[
  '2023_05_15_0_initial',
  '2023_06_20_0_indices',
  '2023_07_18_0_better_indices',
  '2023_07_24_0_drop_finalized',
  '2023_09_19_0_new_sync_design',
  '2023_11_06_0_new_rpc_cache_design',
  '2024_01_30_0_change_chain_id_type',
  '2024_02_1_0_nullable_block_columns',
  '2024_03_00_0_log_transaction_hash_index',
  '2024_03_13_0_nullable_block_columns_sha3uncles',
  '2024_03_14_0_nullable_transaction_rsv',
  '2024_03_20_0_checkpoint_in_logs_table',
  '2024_04_04_0_log_events_indexes',
  '2024_04_14_0_nullable_block_total_difficulty',
  '2024_04_14_1_add_checkpoint_column_to_logs_table',
  '2024_04_14_2_set_checkpoint_in_logs_table',
  '2024_04_14_3_index_on_logs_checkpoint',
  '2024_04_22_0_transaction_receipts',
  '2024_04_23_0_block_filters',
  '2024_05_07_0_trace_filters',
  '2024_11_04_0_request_cache',
  '2024_11_09_0_adjacent_interval',
  '2024_11_12_0_debug',
  '2024_12_02_0_request_cache',
  '2025_02_19_0_primary_key',
  '2025_02_26_0_factories',
  '2025_02_26_1_rpc_request_results'
]) with ordinality migration (name, place);
