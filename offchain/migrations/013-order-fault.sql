-- Signed orders that nobody can fill, as their parameters alone say: money that is none, a zone that nobody is,
-- or several ERC-721 tokens for an amount that can't be paid in equal parts.
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
  )
  or (
    token_standard = 'ERC721'
    and quantity > 1
    and exists (
      select
      from jsonb_array_elements((parameters::jsonb -> 'offer') || (parameters::jsonb -> 'consideration')) as item
      where
        (item ->> 'startAmount')::numeric % quantity <> 0
        or (item ->> 'endAmount')::numeric % quantity <> 0
    )
  );
