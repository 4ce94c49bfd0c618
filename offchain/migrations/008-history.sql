-- History up to a final block is loaded by the history engine, what comes after it by Ponder.
alter table deployment
  -- The last block of history, fixed once; one below the start block where there is none. Null: not fixed yet.
  add column history_block bigint,
  -- Its hash at that time: another one later says that the chain has replaced what was final.
  add column history_hash text,
  -- When all of it lay ready in the schema beside the deployment's, for Ponder to take over.
  add column history_loaded_at timestamptz;
