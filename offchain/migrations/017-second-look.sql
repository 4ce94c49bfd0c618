-- A contract said that a token's metadata, or its own, has changed. Where the URI is then what it was, a node that lags may
-- have said it: looked at once more.
alter table token_metadata
  add column is_update_unseen boolean not null default false;

alter table contract_metadata
  add column is_uri_update_unseen boolean not null default false;

-- Asked for by the contract, not by the operator.
alter table token_range
  add column is_update boolean not null default false;
