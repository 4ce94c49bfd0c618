import { isShownText } from "../token/contract.ts";
import { heldInOrder, isBehind, ZERO_LITERAL } from "../token/holding.ts";
import { joinToken, lastReceiver } from "../token/token.ts";
import { NUMBER_IN_CONTRACT, NUMBER_OF_COLLECTION } from "./order-listing.ts";
import { CHAIN } from "./trade-order.ts";

/*
 * SQL of pages of tokens with their current owners, in the shape that `withListings` expects.
 */

const COLUMNS = ["contract_address", "token_id", "standard", "owner"];

/** The owner as in `CURRENT_OWNER`, with the units held. */
const WITH_OWNER = `
  token.contract_address,
  token.token_id,
  token.standard,
  token.owner,
  coalesce(token.owner, holder.owner) as current_owner,
  case
    when token.owner is null then coalesce(holder.balance, 0)
    when token.owner = ${ZERO_LITERAL} then 0
    else 1
  end as held
`;
const JOIN_HOLDER = `
  left join lateral ${lastReceiver("ownership.owner, ownership.balance", "token.owner is null")} as holder on true
`;

/** $1: addresses without 0x, $4: token ids. `place` is a token's place in the request. */
export const PAGE_BY_KEY = `
  select
    requested.place,
    ${NUMBER_OF_COLLECTION},
    ${WITH_OWNER}
  from unnest($1::text[], $4::numeric[]) with ordinality as requested (address, id, place)
  ${joinToken({ columns: COLUMNS, contractAddress: "decode(requested.address, 'hex')", tokenId: "requested.id" })}
  ${JOIN_HOLDER}
  where ${isShownText({ chainId: CHAIN, contractAddress: "token.contract_address" })}
`;

/** $1: rows, $4: contract. The page starts after token id $5. */
export const PAGE_OF_COLLECTION = `
  select
    row_number() over (order by token.token_id) as place,
    ${NUMBER_IN_CONTRACT},
    ${WITH_OWNER}
  from (
    select ${COLUMNS.join(", ")}
    from token
    where
      token.contract_address = $4
      and token.token_id > $5
      and ${isShownText({ chainId: CHAIN, contractAddress: "$4" })}
    order by
      token.contract_address,
      token.token_id
    limit $1
  ) as token
  ${JOIN_HOLDER}
`;

/** $1: rows, $4: account. The page starts after contract $5 and token id $6. */
export const PAGE_OF_OWNER = `
  select
    row_number() over (order by token.contract_address, token.token_id) as place,
    ${NUMBER_OF_COLLECTION},
    token.contract_address,
    token.token_id,
    token.standard,
    token.owner,
    $4::bytea as current_owner,
    token.held
  from (
    ${heldInOrder({
      columns: {
        token: "token.standard, token.owner, 1::numeric as held",
        ownership: "'ERC1155' as standard, null::bytea as owner, ownership.balance as held",
      },
      chainId: CHAIN,
      after: { address: "$5", id: "$6" },
      isBehind: isBehind("$4"),
      rows: "$1",
    })}
    limit $1
  ) as token
`;
