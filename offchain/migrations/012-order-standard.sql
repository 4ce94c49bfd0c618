-- What standard an order takes its token for, ERC721 or ERC1155: the exchange moves it as one of that. Of orders that
-- were taken before, it is in what was signed.
alter table signed_order add column token_standard text;
update signed_order
set token_standard = item.token_standard
from signed_order as signed
cross join lateral (
  select
    case
      when (item ->> 'itemType')::integer in (2, 4) then 'ERC721'
      else 'ERC1155'
    end as token_standard
  from jsonb_array_elements(
    case
      when signed.side = 'listing' then signed.parameters::jsonb -> 'offer'
      else signed.parameters::jsonb -> 'consideration'
    end
  ) as item
  where (item ->> 'itemType')::integer >= 2
  limit 1
) as item
where
  signed_order.chain_id = signed.chain_id
  and signed_order.exchange_address = signed.exchange_address
  and signed_order.order_hash = signed.order_hash;

-- Seaport fills none of these: several units of one ERC-721 token, or several ERC-721 tokens at once.
delete from signed_order
where
  token_standard = 'ERC721'
  and quantity > 1
  and (
    token_id is not null
    or (parameters::jsonb ->> 'orderType')::integer not in (1, 3)
  );
