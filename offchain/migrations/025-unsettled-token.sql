-- Tokens that came into the queue with a block that a reorg may still replace. What isn't there once that block is final is
-- no token, and goes.
create table unsettled_token (
  chain_id bigint not null,
  block_number bigint not null,
  contract_address bytea not null,
  token_id numeric(78, 0) not null,
  primary key (chain_id, block_number, contract_address, token_id)
);
