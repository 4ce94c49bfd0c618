-- Signed orders that nobody can fill, as their parameters alone say: money that is none, or a zone that nobody is.
delete from signed_order
where
  (
    (parameters::jsonb ->> 'orderType')::integer in (2, 3)
    and parameters::jsonb ->> 'zone' = '0x0000000000000000000000000000000000000000'
  )
  or exists (
    select
    from jsonb_array_elements((parameters::jsonb -> 'offer') || (parameters::jsonb -> 'consideration')) as item
    where
      (item ->> 'itemType')::integer < 2
      and (
        item ->> 'identifierOrCriteria' <> '0'
        or ((item ->> 'itemType')::integer = 0)
          <> (item ->> 'token' = '0x0000000000000000000000000000000000000000')
      )
  );
