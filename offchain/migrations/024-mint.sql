-- A reorg may mint a token anew: in another block, by another transaction, with another URI. By which mint a token came is
-- noted, so that it is seen that what was read is of one that is gone. Null: as far as is known it was never minted.
alter table token_metadata add column mint_hash bigint;
