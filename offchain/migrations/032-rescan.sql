-- Another deployment may have more tokens in blocks that were looked at already. They are gone through beside the new blocks,
-- which had to wait until that was done: for hours where a chain has a hundred million events.
alter table token_watermark
  add column rescan_from bigint,
  add column rescan_to bigint;
