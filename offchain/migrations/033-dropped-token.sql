-- Tokens that the published deployment lacks, as with fewer contracts or a later start block: what was fetched of them is
-- kept, and until a deployment has them again they are neither fetched nor counted.
create table dropped_token (
  chain_id bigint not null,
  contract_address bytea not null,
  token_id numeric(78, 0) not null,
  primary key (chain_id, contract_address, token_id)
);

alter table contract_metadata
  add column is_dropped boolean not null default false;

-- The deployment that tokens were last looked up in, and the last one of these while they are gone through: else null.
alter table token_watermark
  add column drop_deployment text not null default '',
  add column drop_contract bytea,
  add column drop_token_id numeric(78, 0);
