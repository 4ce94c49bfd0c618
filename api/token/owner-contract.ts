import { zeroAddress } from "viem";
import { toBytes } from "../../offchain/bytea.ts";
import { CONTRACT_ITEM, isShownText, joinContractText } from "./contract.ts";
import { BEFORE_ANY_ADDRESS, type RowStream } from "../sql/database.ts";
import { itemsInPieces, loadItems } from "../sql/item-page.ts";
import { createPage, type Page } from "../http/page.ts";

/** How many rows of the owner's index are read in a step. Most collectors hold few tokens of each contract. */
const STEP_ROWS = 32;

/**
 * SQL of the contracts in one table, an array for each step. A step reads the next rows behind the last contract of the
 * step before. So 100,000 tokens of one contract take two steps, and 100 contracts with one token each take four.
 */
const walk = (table: "token" | "ownership", condition: string) => `
  ${table}_walk as (
    select
      $4::bytea as place,
      '{}'::bytea[] as shown,
      0 as count
    union all
    select
      step.all_seen[cardinality(step.all_seen)],
      step.shown,
      ${table}_walk.count + cardinality(step.shown)
    from ${table}_walk
    cross join lateral (
      select
        array_agg(seen.contract_address order by seen.contract_address) as all_seen,
        coalesce(
          array_agg(seen.contract_address order by seen.contract_address)
            filter (where ${isShownText({ chainId: "$2", contractAddress: "seen.contract_address" })}),
          '{}'
        ) as shown
      from (
        select distinct ahead.contract_address
        from (
          select ${table}.contract_address
          from ${table}
          where
            (${table}.owner, ${table}.contract_address) > ($3, ${table}_walk.place)
            and ${table}.owner <= $3
            ${condition}
          order by
            ${table}.owner,
            ${table}.contract_address
          limit ${STEP_ROWS}
        ) as ahead
      ) as seen
    ) as step
    where
      ${table}_walk.count < $1
      and step.all_seen is not null
  )
`;

/** Parameters: rows, chain, account, the contract to continue behind, items of a piece. */
const OWNER_CONTRACTS = `
  with recursive
  ${walk("token", "")},
  ${walk("ownership", "and ownership.balance > 0")},
  held as (
    select token_side.contract_address
    from token_walk
    cross join lateral unnest(token_walk.shown) as token_side (contract_address)
    union
    select ownership_side.contract_address
    from ownership_walk
    cross join lateral unnest(ownership_walk.shown) as ownership_side (contract_address)
    order by contract_address
    limit $1
  )
  ${itemsInPieces({
    columns: ["item", "contract_address"],
    page: `
      select
        ${CONTRACT_ITEM} as item,
        held.contract_address
      from held
      ${joinContractText({ chainId: "$2", page: "held" })}
    `,
    order: "contract_address",
    pieceItems: "$5",
  })}
`;

/** The contracts of which an account holds a token, by address. */
export async function listOwnerContracts(
  stream: RowStream,
  {
    chainId,
    accountAddress,
    after,
    limit,
  }: { chainId: number; accountAddress: string; after: string | undefined; limit: number },
): Promise<Page> {
  if (accountAddress === zeroAddress) return createPage({ limit });
  const place = after === undefined ? BEFORE_ANY_ADDRESS : toBytes(after);
  return loadItems(stream, OWNER_CONTRACTS, { limit, parameters: [chainId, toBytes(accountAddress), place] });
}
