import type { Sql } from "postgres";
import { dropPonderSync } from "../chain-data.ts";
import { decodeCheckpoint } from "./ponder-position.ts";

/** How many blocks are deleted in one step. */
const STEP_BLOCKS = 1_000;

/** A node's own final block is older than Ponder's, by an hour where all is well. What is younger than this is kept. */
const SPARED_SECONDS = 6 * 3600;

/** Tables of `ponder_sync` with what Ponder has fetched, and their columns for the block number. */
const TABLES = {
  logs: "block_number",
  transactions: "block_number",
  transaction_receipts: "block_number",
  traces: "block_number",
  blocks: "number",
};

/**
 * Deletes, a step at a time, what Ponder keeps of blocks that it never reads again: a restart begins where its rows were
 * final, and a new deployment where its history ends, which is kept elsewhere. Ponder still counts these blocks as
 * fetched. The last of them stays, so that its hash tells when the chain has replaced it. `isDone`: nothing is left to
 * delete now.
 */
export async function prunePonderSync(sql: Sql, { chainId }: { chainId: number }): Promise<{ isDone: boolean }> {
  if (!(await exists(sql))) return { isDone: true };
  const first = await findFirstRead(sql, { chainId });
  const [oldest] = await sql<{ end: number | null; count: number }[]>`
    select
      max(number)::float8 as end,
      count(*)::int as count
    from (
      select number, timestamp
      from ponder_sync.blocks
      where chain_id = ${chainId}
      order by number
      limit ${STEP_BLOCKS}
    ) oldest
    where timestamp <= (
      select timestamp - ${SPARED_SECONDS}
      from ponder_sync.blocks
      where
        chain_id = ${chainId}
        and number <= ${first}
      order by number desc
      limit 1
    )
  `;
  if (!oldest || oldest.end === null || oldest.count < 2) return { isDone: true };
  const { end, count } = oldest;
  await sql.begin(async (tx) => {
    for (const [table, column] of Object.entries(TABLES))
      await tx`
        delete from ${tx(`ponder_sync.${table}`)}
        where
          chain_id = ${chainId}
          and ${tx(column)} < ${end}
      `;
  });
  return { isDone: count < STEP_BLOCKS };
}

/** The first block that any of a chain's deployments may read again; -1 where the history of one isn't fixed yet. */
async function findFirstRead(sql: Sql, { chainId }: { chainId: number }): Promise<number> {
  const deployments = await sql<{ schema_name: string; history_block: number | null; has_checkpoint: boolean }[]>`
    select
      schema_name,
      history_block::float8,
      to_regclass(quote_ident(schema_name) || '._ponder_checkpoint') is not null as has_checkpoint
    from offchain.deployment
    where chain_id = ${chainId}
  `;
  const blocks = await Promise.all(
    deployments.map(async ({ schema_name, history_block, has_checkpoint }) => {
      if (history_block === null) return -1;
      if (!has_checkpoint) return history_block + 1;
      // Ponder resumes from the safe checkpoint, not from the finalized one.
      const [mark] = await sql<{ safe: string }[]>`
        select safe_checkpoint as safe from ${sql(`${schema_name}._ponder_checkpoint`)}
      `;
      return mark ? decodeCheckpoint(mark.safe).block : history_block + 1;
    }),
  );
  return Math.min(...blocks);
}

/**
 * Drops what Ponder has fetched of a chain where it doesn't reach back to `firstBlock`, as after a node that was far
 * behind: Ponder would take the blocks in between for empty.
 */
export async function requirePonderSync(
  sql: Sql,
  { chainId, firstBlock }: { chainId: number; firstBlock: number },
): Promise<void> {
  if (!(await exists(sql))) return;
  const [first] = await sql<{ number: number }[]>`
    select number::float8
    from ponder_sync.blocks
    where chain_id = ${chainId}
    order by number
    limit 1
  `;
  if (first && first.number > firstBlock) await dropPonderSync(sql, { chainId });
}

async function exists(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ exists: boolean }[]>`select to_regclass('ponder_sync.blocks') is not null as exists`;
  return row?.exists === true;
}
