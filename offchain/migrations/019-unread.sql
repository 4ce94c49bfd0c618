-- What was written and never read: of workers only what they do now is told, and media is found by its links alone.
alter table metadata_worker
  drop column fetches,
  drop column failures,
  drop column in_flight;

alter table media drop column byte_size;
drop index media_key;
