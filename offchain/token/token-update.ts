import type { Sql, TransactionSql } from "postgres";
import type { Hex } from "viem";
import { toBytea } from "../bytea.ts";
import { type IndexedNetwork, REORG_BLOCKS } from "../network.ts";
import { isDropped } from "./dropped-token.ts";
import { makeTokensDue } from "./token-turn.ts";

/**
 * How many updates are taken up in one step. 5,000 take a fifth of a second, in which nothing is stored of their
 * tokens.
 */
const STEP_UPDATES = 5000;

/**
 * A change that a contract has logged: of tokens from one id to another, or of the contract itself, where these are
 * null.
 */
type Update = { contract_address: Hex; from_token_id: string | null; to_token_id: string | null };

/**
 * Takes up changes of metadata that contracts have logged, up to the indexed block. A token or contract becomes due; a
 * range becomes one row, to be walked. Blocks that a reorg may replace are looked at again, and what was done of them
 * is noted, so that it is done once. Where a chain began anew under its old id, what is known of the old one is deleted
 * first. `isDone`: nothing is left to take up now.
 */
export async function enqueueUpdates(
  sql: Sql,
  { network, chain_id, indexed_block, genesis_hash }: IndexedNetwork,
): Promise<{ count: number; isDone: boolean }> {
  return sql.begin(async (tx) => {
    const [watermark] = await tx<{ block_number: number; genesis_hash: string }[]>`
      select
        updates_block_number::float8 as block_number,
        updates_genesis_hash as genesis_hash
      from offchain.token_watermark
      where chain_id = ${chain_id}
      for update skip locked
    `;
    if (!watermark) return { count: 0, isDone: true };
    if (watermark.genesis_hash !== genesis_hash && watermark.genesis_hash !== "" && genesis_hash !== "") {
      await deleteMetadata(tx, { chainId: chain_id });
      return { count: 0, isDone: false };
    }
    const seen = watermark.block_number;
    if (seen >= indexed_block) return { count: 0, isDone: true };
    const from = seen - REORG_BLOCKS;
    const onchain = `onchain_${network}`;
    const [step] = await tx<{ block_number: number }[]>`
      select block_number::float8 as block_number
      from ${tx(onchain)}.metadata_update
      where block_number > ${seen}
      order by metadata_update.block_number, metadata_update.log_index
      offset ${STEP_UPDATES}
      limit 1
    `;
    const to = Math.min(step?.block_number ?? indexed_block, indexed_block);
    const updates = await takeUpdates(tx, { chainId: chain_id, onchain, from, to });
    if (updates.length > 0) await requestUpdates(tx, { chainId: chain_id, updates });
    await tx`
      update offchain.token_watermark
      set
        updates_block_number = ${to},
        updates_genesis_hash = coalesce(nullif(${genesis_hash}, ''), updates_genesis_hash)
      where chain_id = ${chain_id}
    `;
    await tx`delete from offchain.handled_update where chain_id = ${chain_id} and block_number < ${from - REORG_BLOCKS}`;
    return { count: updates.length, isDone: to >= indexed_block };
  });
}

/**
 * The updates that weren't taken up yet, and those that were and that a reorg has taken back: what was read for them is of
 * the chain that lost. Notes the first as taken up, and forgets the others.
 */
async function takeUpdates(
  tx: TransactionSql,
  { chainId, onchain, from, to }: { chainId: number; onchain: string; from: number; to: number },
): Promise<Update[]> {
  const updates = tx(`${onchain}.metadata_update`);
  return tx<Update[]>`
    with lost as (
      delete from offchain.handled_update h
      where
        chain_id = ${chainId}
        -- Also above the indexed block: the branch that won may have fewer.
        and block_number > ${from}
        and not exists (
          select
          from ${updates} u
          where
            u.block_number = h.block_number
            and u.log_index = h.log_index
            and u.contract_address = h.contract_address
            and concat_ws('-', u.from_token_id, u.to_token_id) = h.token_ids
        )
      returning contract_address, token_ids
    ),
    handled as (
      insert into offchain.handled_update (chain_id, block_number, log_index, contract_address, token_ids)
      select ${chainId}, block_number, log_index, contract_address, concat_ws('-', from_token_id, to_token_id)
      from ${updates}
      where
        block_number > ${from}
        and block_number <= ${to}
      on conflict do nothing
      returning block_number, log_index
    )
    select
      '0x' || encode(u.contract_address, 'hex') as contract_address,
      u.from_token_id,
      u.to_token_id
    from handled
    join ${updates} u using (block_number, log_index)
    union all
    select
      '0x' || encode(contract_address, 'hex'),
      nullif(split_part(token_ids, '-', 1), '')::numeric,
      nullif(split_part(token_ids, '-', 2), '')::numeric
    from lost
  `;
}

/** In separate statements, because one statement changes a row only once, and a contract may be in all of them. */
async function requestUpdates(
  tx: TransactionSql,
  { chainId, updates }: { chainId: number; updates: Update[] },
): Promise<void> {
  const contracts = updates.filter(({ from_token_id }) => from_token_id === null);
  const ranges = updates.filter(({ from_token_id, to_token_id }) => from_token_id !== to_token_id);
  const tokens = updates.filter(
    ({ from_token_id, to_token_id }) => from_token_id !== null && from_token_id === to_token_id,
  );
  // Everybody locks in this order: contracts, ranges, tokens, each by address and id.
  await tx`
    select
    from offchain.contract_metadata
    where
      chain_id = ${chainId}
      and contract_address = any (${[...new Set(addressesOf(updates))]}::text[]::bytea[])
    order by contract_address
    for update
  `;
  if (contracts.length > 0) await requestContracts(tx, { chainId, contracts });
  if (ranges.length > 0) await requestRanges(tx, { chainId, ranges });
  if (tokens.length > 0) await requestTokens(tx, { chainId, tokens });
}

const addressesOf = (updates: Update[]) => updates.map(({ contract_address }) => toBytea(contract_address));
const idsOf = (updates: Update[], key: "from_token_id" | "to_token_id") =>
  updates.map((update) => update[key] as string);

async function requestContracts(
  tx: TransactionSql,
  { chainId, contracts }: { chainId: number; contracts: Update[] },
): Promise<void> {
  await tx`
    update offchain.contract_metadata
    set
      -- A contract may have a new name, too.
      due_at = now(),
      uri_due_at = now(),
      uri_attempts = 0,
      is_update_unseen = true,
      is_uri_update_unseen = true
    where
      chain_id = ${chainId}
      and contract_address = any (${addressesOf(contracts)}::text[]::bytea[])
  `;
}

/**
 * Ranges that overlap or follow each other become one: a contract can log a thousand over all of its tokens for next to
 * nothing, and all of these would be read a thousand times. Unknown tokens are left out: they don't exist, or are read
 * anyway once they come into the queue.
 */
async function requestRanges(
  tx: TransactionSql,
  { chainId, ranges }: { chainId: number; ranges: Update[] },
): Promise<void> {
  await tx`
    insert into offchain.token_range
      (chain_id, contract_address, from_token_id, to_token_id, next_token_id, is_update)
    select ${chainId}::bigint, contract_address, lower(ids), upper(ids) - 1, lower(ids), true
    from (
      select
        contract_address,
        unnest(range_agg(numrange(from_id, to_id + 1))) as ids
      from unnest(
        ${addressesOf(ranges)}::text[]::bytea[],
        ${idsOf(ranges, "from_token_id")}::text[]::numeric[],
        ${idsOf(ranges, "to_token_id")}::text[]::numeric[]
      ) as range (contract_address, from_id, to_id)
      group by contract_address
    ) as joined
    where exists (
      select
      from offchain.token_metadata m
      where
        m.chain_id = ${chainId}
        and m.contract_address = joined.contract_address
        and m.token_id >= lower(ids)
        and m.token_id < upper(ids)
    )
    on conflict (chain_id, contract_address, from_token_id, to_token_id) do update set
      is_repeated = true,
      is_update = true
  `;
}

/** Unknown tokens are left out here, too. */
async function requestTokens(
  tx: TransactionSql,
  { chainId, tokens }: { chainId: number; tokens: Update[] },
): Promise<void> {
  await tx`
    with asked as materialized (
      select m.contract_address, m.token_id, m.turn
      from (
        select distinct contract_address, token_id
        from unnest(
          ${addressesOf(tokens)}::text[]::bytea[],
          ${idsOf(tokens, "from_token_id")}::text[]::numeric[]
        ) as token (contract_address, token_id)
        order by contract_address, token_id
      ) single
      cross join lateral (
        select m.contract_address, m.token_id, m.turn
        from offchain.token_metadata m
        where
          m.chain_id = ${chainId}
          and m.contract_address = single.contract_address
          and m.token_id = single.token_id
          and not ${isDropped(tx, { chainId })}
        for update of m
      ) m
    ),
    ${makeTokensDue(tx, { chainId, isUpdate: true })}
    select
  `;
}

/**
 * Deletes all metadata of a chain, because an address may have another contract now. Without watermarks everything is
 * looked for from the beginning.
 */
async function deleteMetadata(tx: TransactionSql, { chainId }: { chainId: number }): Promise<void> {
  const tables = [
    "contract_watermark",
    "contract_metadata",
    "handled_update",
    "token_range",
    "unsettled_token",
    "dropped_token",
    "token_metadata",
    // After the tokens: what was stored of a token meanwhile is counted by then.
    "metadata_failure",
    "metadata_count",
    "token_watermark",
  ];
  for (const name of tables) await tx`delete from ${tx(`offchain.${name}`)} where chain_id = ${chainId}`;
}
