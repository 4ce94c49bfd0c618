import type { Sql, TransactionSql } from "postgres";
import { type IndexedNetwork, REORG_BLOCKS } from "../network.ts";
import { takeBackTokens } from "./dropped-token.ts";
import { addTokens, type Blocks, retryReverted } from "./seen-token.ts";

/** How many events are looked at in one step. 20,000 take a second, and nobody waits longer for the locked row. */
const STEP_EVENTS = 20_000;
/** How often blocks that a reorg may have replaced are looked at again. Each second would cost too much. */
const RECHECK_SECONDS = 60;
/** A reorg may be as old as the last such look, and four blocks a second the fastest chains have had since. */
const RECHECK_BLOCKS = REORG_BLOCKS + 4 * RECHECK_SECONDS;

type Watermark = {
  block_number: number;
  deployment: string;
  is_recheck_due: boolean;
  /** Whether tokens are dropped that may come back. */
  has_dropped: boolean;
  /** What is left of the blocks that were looked at in another deployment's tables only. Null where nothing is. */
  rescan_from: number | null;
  rescan_to: number | null;
};

/**
 * Queues tokens that appear in blocks indexed since the last look. Known tokens don't change, except one that was minted
 * anew, by a reorg or after it was burned, and one whose URI reverted: its contract has changed something. Turns are
 * interleaved, so a mint of a million tokens leaves every second place to others. Another deployment may have more in
 * blocks before, which are gone through where there is nothing new. `isDone`: nothing is left to look at now.
 */
export async function enqueueTokens(sql: Sql, indexed: IndexedNetwork): Promise<{ isDone: boolean }> {
  const { indexed_block } = indexed;
  return sql.begin(async (tx) => {
    const watermark = await lockWatermark(tx, indexed);
    if (!watermark) return { isDone: true };
    // A shorter chain than before was reorganized, or is another one.
    const seen = Math.min(watermark.block_number, indexed_block);
    const rest = restOf(watermark, { ...indexed, seen });
    // One of both in a transaction, because each locks contracts in their order.
    // A reorg may have put other blocks in the place of the last ones, and none follows where nothing happens.
    if (seen !== watermark.block_number || seen < indexed_block || watermark.is_recheck_due) {
      const to = await lookAtNew(tx, indexed, { seen, watermark });
      await writeWatermark(tx, indexed, { to, rest });
      return { isDone: to >= indexed_block && !rest };
    }
    if (!rest) return { isDone: true };
    const to = await findEnd(tx, indexed, rest);
    await lookAt(tx, indexed, { from: rest.from, to }, watermark);
    const left = to < rest.to ? { from: to, to: rest.to } : undefined;
    await writeWatermark(tx, indexed, { to: seen, rest: left });
    return { isDone: !left };
  });
}

function restOf(
  { deployment: known, rescan_from, rescan_to }: Watermark,
  { deployment, indexed_block, seen }: IndexedNetwork & { seen: number },
): Blocks | undefined {
  const from = known === deployment ? rescan_from : -1;
  // Those of a chain that is shorter now are new when they come.
  const to = known === deployment ? Math.min(rescan_to ?? -1, indexed_block) : seen;
  return from !== null && from < to ? { from, to } : undefined;
}

/** Looks at the next blocks that are new. Returns the last of them. */
async function lookAtNew(
  tx: TransactionSql,
  indexed: IndexedNetwork,
  { seen, watermark }: { seen: number; watermark: Watermark },
): Promise<number> {
  const { is_recheck_due } = watermark;
  const to = await findEnd(tx, indexed, { from: seen, to: indexed.indexed_block });
  const from = is_recheck_due ? Math.max(seen - RECHECK_BLOCKS, -1) : seen;
  // Before contracts are locked: who looks for new ones locks them after his watermark.
  if (is_recheck_due) await noteRecheck(tx, indexed);
  await lookAt(tx, indexed, { from, to }, watermark);
  await retryReverted(tx, indexed, { from: seen, to });
  return to;
}

/** Contracts and updates are looked for again, too: by their watermarks there is a block that wasn't seen. */
async function noteRecheck(tx: TransactionSql, { chain_id, indexed_block }: IndexedNetwork): Promise<void> {
  await tx`
    update offchain.token_watermark
    set
      rechecked_at = now(),
      -- A reorg may have left fewer blocks. A chain that is shorter by more is being indexed anew.
      updates_block_number = case
        when updates_block_number - ${indexed_block} between 0 and ${REORG_BLOCKS} then ${indexed_block} - 1
        else updates_block_number
      end
    where chain_id = ${chain_id}
  `;
  await tx`update offchain.contract_watermark set block_number = block_number - 1 where chain_id = ${chain_id}`;
}

/** Queues the tokens of these blocks that are unknown, or back. */
async function lookAt(
  tx: TransactionSql,
  indexed: IndexedNetwork,
  blocks: Blocks,
  { has_dropped }: Watermark,
): Promise<void> {
  await addTokens(tx, indexed, blocks);
  // Contracts are locked before tokens.
  if (has_dropped) await takeBackTokens(tx, indexed, blocks);
}

async function writeWatermark(
  tx: TransactionSql,
  { chain_id, deployment }: IndexedNetwork,
  { to, rest }: { to: number; rest: Blocks | undefined },
): Promise<void> {
  await tx`
    update offchain.token_watermark
    set
      block_number = ${to},
      deployment = ${deployment},
      rescan_from = ${rest?.from ?? null},
      rescan_to = ${rest?.to ?? null}
    where chain_id = ${chain_id}
  `;
}

/** How far tokens were looked for. Locked, so that only one of many workers looks; undefined where another one does. */
async function lockWatermark(
  tx: TransactionSql,
  { chain_id, head_block, genesis_hash }: IndexedNetwork,
): Promise<Watermark | undefined> {
  // Tokens are read at the chain's head from now on, so updates before it needn't be taken up.
  await tx`
    insert into offchain.token_watermark (chain_id, block_number, updates_block_number, updates_genesis_hash)
    values (${chain_id}, -1, ${head_block}, ${genesis_hash})
    on conflict do nothing
  `;
  const [watermark] = await tx<Watermark[]>`
    select
      block_number::float8 as block_number,
      deployment,
      -- A time in the future is from before the clock was set back.
      rechecked_at not between now() - ${RECHECK_SECONDS} * interval '1 second' and now() as is_recheck_due,
      exists (select from offchain.dropped_token where chain_id = ${chain_id}) as has_dropped,
      rescan_from::float8 as rescan_from,
      rescan_to::float8 as rescan_to
    from offchain.token_watermark
    where chain_id = ${chain_id}
    for update skip locked
  `;
  return watermark;
}

/** The last block of the next step through these blocks. A block is always looked at whole. */
async function findEnd(tx: TransactionSql, { network }: IndexedNetwork, { from, to }: Blocks): Promise<number> {
  const [step] = await tx<{ block_number: number }[]>`
    select block_number::float8 as block_number
    from ${tx(`onchain_${network}`)}.token_event
    where block_number > ${from}
    -- Qualified, so that it orders by the column with the index, and not by the output column of the same name.
    order by token_event.block_number, token_event.log_index, token_event.batch_index
    offset ${STEP_EVENTS}
    limit 1
  `;
  return Math.min(step?.block_number ?? to, to);
}
