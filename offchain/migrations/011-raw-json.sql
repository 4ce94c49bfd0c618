-- The document as received is kept as the JSON string that answers show: escaping it anew for each page was a third of
-- what Postgres did for one.
alter table token_metadata rename column raw to raw_json;
alter table token_metadata alter column raw_json drop default;
alter table token_metadata alter column raw_json type text using to_json(raw_json)::text;
alter table token_metadata alter column raw_json set default '""';
