-- A reorg may put another contract at the address of one that lost. By which event a contract came is noted, so that it is
-- seen that what was read is of one that is gone. Null: of contracts from before nobody knows.
alter table contract_metadata add column first_event_hash bigint;
