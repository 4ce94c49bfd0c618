-- A contractURI that was empty or reverted once was taken for final: a collection that set it after its first mint, or
-- that the node asked didn't have yet, stayed without a picture. All such are asked again.
update contract_metadata
set
  uri_due_at = now(),
  uri_attempts = 0
where
  uri_error_code = 'revert'
  and uri_due_at is null;
