-- What was looked at long ago is forgotten after each look: by time, not by going through all of it.
create index listing_approval_checked on listing_approval (chain_id, checked_at);

-- The status tells every second of which hosts the most tokens fail.
create index metadata_failure_most on metadata_failure (chain_id, tokens desc) where tokens > 0;
