-- The last block that Ponder took for final, and its hash at that time, which Ponder itself keeps of blocks with logs only:
-- another one later says that the chain has replaced what was final. Null: not noted yet.
alter table deployment
  add column finalized_block bigint,
  add column finalized_hash text;
