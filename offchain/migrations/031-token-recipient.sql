-- Signed orders that nobody can fill, because they ask for a token to go to the zero address.
delete from signed_order
where
  exists (
    select
    from jsonb_array_elements(parameters::jsonb -> 'consideration') as item
    where
      (item ->> 'itemType')::integer >= 2
      and item ->> 'recipient' = '0x0000000000000000000000000000000000000000'
  );
