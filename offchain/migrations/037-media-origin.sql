-- Written and never read. Where a document came from is in the token's story, and its media are found by their links.
alter table media drop column fetched_from;
