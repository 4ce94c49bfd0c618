-- Documents are compressed with lz4 where Postgres was built with it, which takes a third of the time that storing one
-- takes otherwise and a little less to read. The embedded one wasn't.
do $$ begin
  alter table token_metadata
    alter column raw_json set compression lz4,
    alter column normalized set compression lz4;
exception when feature_not_supported then
end $$;
