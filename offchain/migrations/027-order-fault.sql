-- More signed orders that are not taken any more: those to be paid out of Blur's pool, which pays for Blur alone, and those
-- whose price changes until later than it can be told.
delete from signed_order
where
  currency_address = '\x0000000000a39bb272e79075ade125fd351887ac'
  or (
    amounts is not null
    and (parameters::jsonb ->> 'endTime')::numeric > 9007199254740991
  );
