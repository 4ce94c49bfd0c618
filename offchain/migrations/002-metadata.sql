-- The queue lives in columns of the tables that it fills: what is due, what was tried, what came of it.

-- A row is in one of two lanes. With a `turn` it is ready: new tokens, updates and refresh requests, served in the
-- order of their turns, which interleave contracts. Without one it waits for `due_at`: retries, and claims whose lease
-- ends then. Neither: nothing to do.
alter table token_metadata
  add column turn bigint,
  add column due_at timestamptz,
  -- Claims since the last success, the one under way included.
  add column attempts integer not null default 0,
  add column attempted_at timestamptz,
  add column error_code text,
  add column error_message text,
  -- Which origin failed, for the operator.
  add column error_host text,
  -- Where the document came from: the gateway's or origin's URL, "chain" or "data".
  add column fetched_from text,
  -- The document has nothing in it that anybody would show.
  add column is_blank boolean not null default false,
  add column media_due_at timestamptz,
  add column media_attempts integer not null default 0,
  add column media_error_code text,
  add column media_error_host text,
  -- What the counters hold for this row: "new", "fetched", "failing" (never fetched) or "stale" (fetched, failing now).
  add column counted_as text;

create index token_metadata_ready on token_metadata (chain_id, turn) where turn is not null;
create index token_metadata_due on token_metadata (chain_id, due_at) where turn is null and due_at is not null;
create index token_metadata_media_due on token_metadata (chain_id, media_due_at) where media_due_at is not null;

-- A refresh request is ahead of every other turn (they are positive), requests among themselves first come, first
-- served. A trigger, so that whoever sets `refresh_requested_at` needs to know nothing of the queue.
create function offchain.put_refresh_first() returns trigger language plpgsql as $$
begin
  new.turn := (extract(epoch from new.refresh_requested_at) * 1000000)::bigint - 1000000000000000000;
  new.due_at := new.refresh_requested_at;
  return new;
end $$;

create trigger token_metadata_refresh_inserted
  before insert on token_metadata
  for each row when (new.refresh_requested_at is not null)
  execute function offchain.put_refresh_first();

create trigger token_metadata_refresh_requested
  before update of refresh_requested_at on token_metadata
  for each row when (new.refresh_requested_at is not null and new.refresh_requested_at is distinct from old.refresh_requested_at)
  execute function offchain.put_refresh_first();

alter table contract_metadata
  -- From contractURI (ERC-7572).
  add column description text not null default '',
  add column contract_uri text not null default '',
  add column uri_due_at timestamptz,
  add column uri_attempts integer not null default 0,
  add column uri_error_code text,
  add column uri_updated_at timestamptz,
  -- Which function gave a token's URI, and in which form {id} found a document: asked first next time.
  add column uri_function text,
  add column id_form text,
  -- The last turn given to one of its tokens.
  add column last_turn bigint not null default 0;

create index contract_metadata_uri_due on contract_metadata (chain_id, uri_due_at) where uri_due_at is not null;

-- Which set of on-chain tables was looked at: another one may hold more in old blocks.
alter table contract_watermark
  add column deployment text not null default '';

-- How far the worker has looked for new tokens and for metadata updates.
create table token_watermark (
  chain_id bigint primary key,
  block_number bigint not null,
  deployment text not null default '',
  -- Blocks that a reorg may have replaced are looked at again now and then.
  rechecked_at timestamptz not null default now(),
  updates_block_number bigint not null default -1
);

-- Metadata updates of recent blocks that are done, so that looking again doesn't repeat them.
create table handled_update (
  chain_id bigint not null,
  block_number bigint not null,
  log_index integer not null,
  contract_address bytea not null,
  primary key (chain_id, block_number, log_index, contract_address)
);

-- Tokens of a range that are to be fetched again, taken some at a time: one row, however many tokens it spans.
create table token_range (
  chain_id bigint not null,
  contract_address bytea not null,
  from_token_id numeric(78, 0) not null,
  to_token_id numeric(78, 0) not null,
  next_token_id numeric(78, 0) not null,
  -- Asked for again while under way: walked once more at its end.
  is_repeated boolean not null default false,
  requested_at timestamptz not null default now(),
  primary key (chain_id, contract_address, from_token_id, to_token_id)
);

create index token_range_requested on token_range (chain_id, requested_at);

-- Content that documents point at, by what points at it. The content itself is in the media store under `key`.
create table media (
  -- SHA-256 of the URI, which may be megabytes of data.
  uri_hash bytea primary key,
  -- The URI, cut for reading.
  uri text not null,
  key text not null,
  mime_type text not null,
  byte_size bigint not null,
  fetched_from text not null,
  fetched_at timestamptz not null default now()
);

create index media_key on media (key);

-- Counters as sums of what each slot added, so that workers don't wait for one row.
create table metadata_count (
  chain_id bigint not null,
  slot smallint not null,
  tokens bigint not null default 0,
  fetched bigint not null default 0,
  failing bigint not null default 0,
  primary key (chain_id, slot)
);

-- How many tokens fail now, by what and where.
create table metadata_failure (
  chain_id bigint not null,
  code text not null,
  host text not null,
  tokens bigint not null,
  primary key (chain_id, code, host)
);

-- Each worker process says now and then what it does.
create table metadata_worker (
  worker_id text primary key,
  fetches_per_second double precision not null default 0,
  fetches bigint not null default 0,
  failures bigint not null default 0,
  in_flight integer not null default 0,
  reported_at timestamptz not null default now()
);
