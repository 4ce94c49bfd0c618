-- A function was remembered where it had led to no document: other tokens of the contract were then asked by it alone.
-- What works is remembered again with the next document.
update contract_metadata set uri_function = null where uri_function is not null;

-- Two claims of one token may be under way at once, where it is asked for again meanwhile. Each has a number: what an
-- older one comes to never goes over what a newer one came to, and only the newest ends the wait.
alter table token_metadata
  add column claim integer not null default 0,
  -- The claim whose outcome is in the row.
  add column stored_claim integer not null default 0;

-- A name out of contractURI follows what that says; one by name() doesn't. Which of the two a name is was not noted: all
-- contracts with both are asked for name() again.
alter table contract_metadata
  add column is_name_of_uri boolean not null default false;

update contract_metadata
set
  is_name_of_uri = true,
  due_at = now()
where
  uri_updated_at is not null
  and name <> '';

-- A reorg puts another token's update in the place of one that is done, and a chain that began anew has other updates in
-- its blocks. Those of the last blocks before this are done once more.
alter table handled_update
  add column token_ids text not null default '',
  drop constraint handled_update_pkey,
  add primary key (chain_id, block_number, log_index, contract_address, token_ids);

alter table token_watermark
  add column updates_genesis_hash text not null default '';

-- Refresh requests whose host was paused or busy: when that is over they come before all retries.
create index token_metadata_refresh_due on token_metadata (chain_id, due_at)
where turn is null and due_at is not null and refresh_requested_at is not null and awaiting_metadata_update;
