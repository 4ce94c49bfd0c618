-- What was made of blocks that were final and that the chain has replaced since: readers see it until there is another,
-- but it is not to be followed any more, by no later process either.
alter table deployment
  add column is_abandoned boolean not null default false;
