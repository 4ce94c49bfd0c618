import type { Sql } from "postgres";
import { toBytes } from "../../offchain/bytea.ts";
import { BEHIND_ALL, type EventKey, type EventRow } from "./event.ts";
import { ZERO_LITERAL } from "./holding.ts";

/** An account, how many units of a token it holds, and the event that it received the last of them by. */
export type HolderRow = { owner: string; balance: string } & Pick<
  EventRow,
  "block_number" | "log_index" | "batch_index"
>;

/**
 * All holders of a token, who received some last first. `before`: the last one of the page before. Not by address: in that
 * order the holders may lie behind a million accounts that once held the token.
 */
export async function listTokenHolders(
  sql: Sql,
  {
    contractAddress,
    tokenId,
    before = BEHIND_ALL,
    limit,
  }: { contractAddress: string; tokenId: string; before?: EventKey | undefined; limit: number },
): Promise<HolderRow[]> {
  const address = toBytes(contractAddress);
  return sql<HolderRow[]>`
    select
      '0x' || encode(holder.owner, 'hex') as owner,
      holder.balance,
      holder.block_number,
      holder.log_index,
      holder.batch_index
    from (
      select
        token.owner,
        1::numeric as balance,
        0::bigint as block_number,
        0 as log_index,
        0 as batch_index
      from token
      where
        token.contract_address = ${address}
        and token.token_id = ${tokenId}
        and token.owner <> ${sql.unsafe(ZERO_LITERAL)}
      union all
      (
        select
          ownership.owner,
          ownership.balance,
          ownership.received_block_number,
          ownership.received_log_index,
          ownership.received_batch_index
        from ownership
        where
          ownership.contract_address = ${address}
          and ownership.token_id = ${tokenId}
          and (
            ownership.received_block_number,
            ownership.received_log_index,
            ownership.received_batch_index
          ) < (${before[0]}, ${before[1]}, ${before[2]})
          and ownership.balance > 0
        order by
          ownership.received_block_number desc,
          ownership.received_log_index desc,
          ownership.received_batch_index desc
        limit ${limit}
      )
    ) as holder
    order by
      holder.block_number desc,
      holder.log_index desc,
      holder.batch_index desc
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
