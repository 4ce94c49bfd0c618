-- What contracts said of listings whose approval for all tokens is not on record: whether the token may be moved by
-- whom the listing needs, by an approval of this token alone or because the contract approves some operators by itself.
create table listing_approval (
  chain_id bigint not null,
  contract_address bytea not null,
  token_id numeric(78, 0) not null,
  owner bytea not null,
  operator bytea not null,
  is_approved boolean not null,
  -- An approval for all tokens in a later block is newer than this.
  block_number bigint not null,
  checked_at timestamptz not null default now(),
  primary key (chain_id, contract_address, token_id, owner, operator)
);
