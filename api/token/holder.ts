import type { Sql } from "postgres";
import { toBytes } from "../sql/database.ts";
import { ZERO_LITERAL } from "./holding.ts";

/** An account and how many units of a token it holds. */
export type HolderRow = { owner: string; balance: string };

/**
 * Up to this many holders are read and sorted. Of a token that a million accounts once held and few hold now, those few
 * lie far apart among all others in the order of addresses. Tokens with more holders are read in that order.
 */
const FEW_HOLDERS = 1000;

/** All holders of a token, by address. `after`: the last one before. */
export async function listTokenHolders(
  sql: Sql,
  {
    contractAddress,
    tokenId,
    after = "0x",
    limit,
  }: { contractAddress: string; tokenId: string; after?: string | undefined; limit: number },
): Promise<HolderRow[]> {
  const address = toBytes(contractAddress);
  const place = toBytes(after);
  return sql<HolderRow[]>`
    with few as materialized (
      select
        ownership.owner,
        ownership.balance
      from ownership
      where
        ownership.contract_address = ${address}
        and ownership.token_id = ${tokenId}
        and ownership.balance > 0
      order by
        ownership.received_block_number,
        ownership.received_log_index,
        ownership.received_batch_index
      limit ${FEW_HOLDERS + 1}
    )
    select
      '0x' || encode(holder.owner, 'hex') as owner,
      holder.balance
    from (
      (
        select
          token.owner,
          1::numeric as balance
        from token
        where
          token.contract_address = ${address}
          and token.token_id = ${tokenId}
          and token.owner <> ${sql.unsafe(ZERO_LITERAL)}
          and token.owner > ${place}
      )
      union all
      select
        few.owner,
        few.balance
      from few
      where
        (select count(*) from few) <= ${FEW_HOLDERS}
        and few.owner > ${place}
      union all
      (
        select
          ownership.owner,
          ownership.balance
        from ownership
        where
          (select count(*) from few) > ${FEW_HOLDERS}
          and ownership.contract_address = ${address}
          and ownership.token_id = ${tokenId}
          and ownership.owner > ${place}
          and ownership.balance > 0
        order by ownership.owner
        limit ${limit}
      )
    ) as holder
    order by holder.owner
    limit ${limit}
  `;
}

/** How many tokens of a contract are held, and by how many accounts. Reads every token: a second for a million. */
export async function countHolders(
  sql: Sql,
  { contractAddress }: { contractAddress: string },
): Promise<{ tokens: number; owners: number }> {
  const address = toBytes(contractAddress);
  const [row] = await sql<[{ tokens: number; owners: number }]>`
    select
      count(distinct held.token_id)::float8 as tokens,
      count(distinct held.owner)::float8 as owners
    from (
      select
        token.token_id,
        token.owner
      from token
      where
        token.contract_address = ${address}
        and token.owner is not null
        and token.owner <> ${sql.unsafe(ZERO_LITERAL)}
      union all
      select
        ownership.token_id,
        ownership.owner
      from ownership
      where
        ownership.contract_address = ${address}
        and ownership.balance > 0
    ) as held
  `;
  return row;
}
