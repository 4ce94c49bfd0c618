-- Logs as the chain has them, so that tables are rebuilt without asking a node again. See history/.

-- What was asked for: contracts and topics, as JSON. Chunks of one filter are complete for the blocks that they name.
create table kept_log_filter (
  filter_id integer generated always as identity primary key,
  chain_id bigint not null,
  -- Hash of the chain's first block: a chain that began anew under its old id is another one.
  genesis_hash text not null,
  -- SHA-256 of the content, which can be long.
  digest bytea not null,
  content text not null,
  unique (chain_id, genesis_hash, digest)
);

create table kept_log_chunk (
  filter_id integer not null references kept_log_filter on delete cascade,
  from_block bigint not null,
  to_block bigint not null,
  -- What the chain replaces is noticed by it.
  last_block_hash text not null,
  log_count integer not null,
  -- SHA-256 of the content as it is stored.
  checksum bytea not null,
  content bytea not null,
  primary key (filter_id, from_block)
);

-- It is compressed already.
alter table kept_log_chunk alter column content set storage external;
