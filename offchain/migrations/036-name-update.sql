-- The same as is_uri_update_unseen of a contract's name and symbol, which are read apart from its URI, maybe by another
-- node: they are looked at once more whatever the URI is.
alter table contract_metadata
  add column is_update_unseen boolean not null default false;
