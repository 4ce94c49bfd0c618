-- Tables that are ours and survive every rebuild of the on-chain ones. `chain_id` keeps the networks apart.

-- What the indexer last said of each network; the API answers /status from it.
create table network (
  name text primary key check (name in ('mainnet', 'testnet')),
  chain_id bigint not null,
  state text not null default 'backfill' check (state in ('backfill', 'live', 'stalled')),
  reason text,
  head_block bigint not null default 0,
  indexed_block bigint not null default 0,
  finalized_block bigint not null default 0,
  head_timestamp bigint not null default 0,
  indexed_timestamp bigint not null default 0,
  progress double precision not null default 0,
  logs_per_second double precision not null default 0,
  eta_seconds double precision,
  skipped_logs bigint not null default 0,
  reported_at timestamptz not null default now()
);

-- One set of on-chain tables in a schema of its own. Readers see the one that was published last.
create table deployment (
  schema_name text primary key,
  network text not null check (network in ('mainnet', 'testnet')),
  chain_id bigint not null,
  fingerprint text not null,
  generation integer not null,
  -- Hash of the chain's first block: a chain that began anew under its old id is another one.
  genesis_hash text not null,
  created_at timestamptz not null default now(),
  published_at timestamptz,
  unique (network, fingerprint, generation)
);

-- What the worker reads from contracts. A row comes with the first attempt.
create table contract_metadata (
  chain_id bigint not null,
  contract_address bytea not null,
  name text not null default '',
  symbol text not null default '',
  image text,
  -- What ERC-165 says, where it says something: ERC721 or ERC1155.
  erc165_type text,
  -- A token of the ERC-20 kind that wrote first-generation Transfer logs: hidden from every answer.
  is_fungible boolean not null default false,
  due_at timestamptz,
  attempts integer not null default 0,
  error_code text,
  updated_at timestamptz,
  primary key (chain_id, contract_address)
);

create index contract_metadata_due on contract_metadata (chain_id, due_at) where due_at is not null;
create index contract_metadata_fungible on contract_metadata (chain_id, contract_address) where is_fungible;

-- How far the worker has looked for new contracts.
create table contract_watermark (
  chain_id bigint primary key,
  block_number bigint not null
);

-- What token URIs point at. No row: never fetched.
create table token_metadata (
  chain_id bigint not null,
  contract_address bytea not null,
  token_id numeric(78, 0) not null,
  token_uri text not null default '',
  -- The document as received; empty before the first fetch that succeeded.
  raw text not null default '',
  -- JSON text in the specification's shape, null before the first fetch that succeeded.
  normalized text,
  -- Unix seconds of the last fetch that succeeded.
  metadata_updated_at bigint,
  awaiting_metadata_update boolean not null default true,
  refresh_requested_at timestamptz,
  primary key (chain_id, contract_address, token_id)
);

create table api_key (
  -- SHA-256 of the key: it has 160 random bits, so that nothing slower is needed.
  key_hash bytea primary key,
  prefix text not null unique,
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  request_count bigint not null default 0,
  revoked_at timestamptz
);
