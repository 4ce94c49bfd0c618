-- Reorgs that the indexer has seen since it was started.
alter table network
  add column reorgs bigint not null default 0;
