import type { Sql, TransactionSql } from "postgres";
import { type IndexedNetwork, REORG_BLOCKS } from "../network.ts";
import { eventHash } from "../event-hash.ts";
import { takeBackTokens } from "./dropped-token.ts";
import { placeTokens } from "./token-turn.ts";

const FIRST_MINT = { timestamp: "t.mint_timestamp", transactionHash: "t.mint_transaction_hash" };
const LAST_MINT = {
  timestamp: `coalesce(last_mint.timestamp, ${FIRST_MINT.timestamp})`,
  transactionHash: `coalesce(last_mint.transaction_hash, ${FIRST_MINT.transactionHash})`,
};

/** How many events are looked at in one step. 20,000 take a second, and nobody waits longer for the locked row. */
const STEP_EVENTS = 20_000;
/** How often blocks that a reorg may have replaced are looked at again. Each second would cost too much. */
const RECHECK_SECONDS = 60;
/** A reorg may be as old as the last such look, and four blocks a second the fastest chains have had since. */
const RECHECK_BLOCKS = REORG_BLOCKS + 4 * RECHECK_SECONDS;
/** A row of the counters for which nobody waits who has locked tokens. */
const ENQUEUE_SLOT = -1;

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

/** Blocks whose events are looked at: those above `from`, up to `to`. */
type Blocks = { from: number; to: number };

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
    if (seen !== watermark.block_number || seen < indexed_block) {
      const to = await lookAtNew(tx, indexed, { seen, watermark });
      await writeWatermark(tx, indexed, { to, rest });
      return { isDone: to >= indexed_block && !rest };
    }
    if (!rest) return { isDone: true };
    const to = await findEnd(tx, indexed, rest);
    await addTokens(tx, indexed, { from: rest.from, to }, watermark);
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
  await addTokens(tx, indexed, { from, to }, watermark);
  await retryReverted(tx, indexed, { from: seen, to });
  if (is_recheck_due)
    await tx`update offchain.token_watermark set rechecked_at = now() where chain_id = ${indexed.chain_id}`;
  return to;
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
      -- One that is to come was before the clock was set back.
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

/** Gives a turn to each token that is unknown, or was minted anew. Takes back those that were dropped. */
async function addTokens(
  tx: TransactionSql,
  indexed: IndexedNetwork,
  { from, to }: Blocks,
  { has_dropped }: Watermark,
): Promise<void> {
  const { network, chain_id, finalized_block } = indexed;
  const onchain = tx(`onchain_${network}`);
  await tx`
    with seen as materialized (
      select
        contract_address,
        token_id,
        min(block_number) as block_number,
        bool_or(event_type = 'mint') as is_minted
      from ${onchain}.token_event
      where
        block_number > ${from}
        and block_number <= ${to}
      group by contract_address, token_id
    ),
    unplaced as materialized (
      select seen.contract_address, seen.token_id, seen.block_number, minted.hash
      from seen
      left join lateral (
        select
          mint.hash,
          -- Where none was noted, it came by the first one as far as is known.
          mint.first_hash,
          case when t.standard <> 'ERC721' or seen.is_minted then mint.hash end as told_hash
        from ${onchain}.token t
        -- An ERC-721 token that was burned may be minted anew, as another one; of an ERC-1155 token each mint brings more
        -- of the same. Looked for only where there is a mint: the token may have moved a million times since.
        left join lateral (
          select e.timestamp, e.transaction_hash
          from ${onchain}.token_event e
          where
            t.standard = 'ERC721'
            and seen.is_minted
            and e.contract_address = seen.contract_address
            and e.token_id = seen.token_id
            and e.event_type = 'mint'
          order by e.block_number desc, e.log_index desc, e.batch_index desc
          limit 1
        ) last_mint on true
        cross join lateral (
          select
            ${eventHash(tx, FIRST_MINT)} as first_hash,
            ${eventHash(tx, LAST_MINT)} as hash
        ) mint
        where
          t.contract_address = seen.contract_address
          and t.token_id = seen.token_id
          and t.mint_transaction_hash is not null
      ) minted on true
      where not exists (
        select
        from offchain.token_metadata m
        where
          m.chain_id = ${chain_id}
          and m.contract_address = seen.contract_address
          and m.token_id = seen.token_id
          and (coalesce(m.mint_hash, minted.first_hash) = minted.told_hash) is not false
      )
    ),
    ${placeTokens(tx, chain_id)},
    added as (
      insert into offchain.token_metadata as m (chain_id, contract_address, token_id, turn, due_at, counted_as, mint_hash)
      select ${chain_id}, contract_address, token_id, placed.turn, now(), 'new', unplaced.hash
      from placed
      join unplaced using (contract_address, token_id)
      on conflict (chain_id, contract_address, token_id) do update set
        turn = coalesce(m.turn, excluded.turn),
        due_at = now(),
        attempts = 0,
        awaiting_metadata_update = true,
        is_update_unseen = true,
        mint_hash = excluded.mint_hash
      -- For a row that was there before, xmax is this transaction.
      returning m.xmax = 0 as is_new
    ),
    unsettled as (
      insert into offchain.unsettled_token (chain_id, block_number, contract_address, token_id)
      select ${chain_id}, block_number, contract_address, token_id
      from unplaced
      where block_number > ${finalized_block}
      on conflict do nothing
    )
    insert into offchain.metadata_count (chain_id, slot, tokens)
    select ${chain_id}, ${ENQUEUE_SLOT}, count(*) filter (where is_new) from added
    on conflict (chain_id, slot) do update set tokens = metadata_count.tokens + excluded.tokens
  `;
  // Contracts are locked before tokens.
  if (has_dropped) await takeBackTokens(tx, indexed, { from, to });
}

/** Makes tokens due whose URI reverted, and which have moved since. */
async function retryReverted(
  tx: TransactionSql,
  { network, chain_id }: IndexedNetwork,
  { from, to }: Blocks,
): Promise<void> {
  await tx`
    with moved as (
      select
        contract_address,
        token_id,
        bool_or(event_type = 'mint') as is_minted
      from ${tx(`onchain_${network}`)}.token_event
      where
        block_number > ${from}
        and block_number <= ${to}
      group by contract_address, token_id
    ),
    reverted as materialized (
      select m.contract_address, m.token_id, moved.is_minted
      from moved
      join offchain.token_metadata m
        on m.chain_id = ${chain_id}
        and m.contract_address = moved.contract_address
        and m.token_id = moved.token_id
      where
        m.error_code = 'revert'
        -- Minted anew it isn't the token that reverted, unless it is being read at this moment.
        and (m.due_at is null or moved.is_minted and m.turn is null and m.stored_claim = m.claim)
      order by m.contract_address, m.token_id
      for update of m
    )
    update offchain.token_metadata m
    set
      due_at = now(),
      -- Our node may be a block behind the indexer's.
      attempts = case when reverted.is_minted then 0 else m.attempts end,
      awaiting_metadata_update = m.awaiting_metadata_update or reverted.is_minted
    from reverted
    where
      m.chain_id = ${chain_id}
      and m.contract_address = reverted.contract_address
      and m.token_id = reverted.token_id
  `;
}
