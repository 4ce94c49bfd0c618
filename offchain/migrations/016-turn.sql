-- Where no token waits, the queue stands at the last turn that was given.
create index contract_metadata_last_turn on contract_metadata (chain_id, last_turn);

-- Ranges are walked contract by contract.
drop index token_range_requested;
create index token_range_requested on token_range (chain_id, contract_address, requested_at);
