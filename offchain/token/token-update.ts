import type { Sql, TransactionSql } from "postgres";
import { REORG_BLOCKS } from "../contract/contract-watermark.ts";
import type { IndexedNetwork } from "../network.ts";
import { MAX_TOKEN_ID } from "./token-range.ts";
import { placeTokens } from "./token-turn.ts";

/** Updates taken up in one step: 5,000 take a fifth of a second, and nothing of their tokens is stored meanwhile. */
const STEP_UPDATES = 5000;

/** `isDone`: there is nothing left to take up now. */
export type UpdateResult = { count: number; isDone: boolean };

/**
 * Takes up what contracts said of changed metadata up to an indexed block: a token or the contract itself becomes due, a
 * range is one row, to be walked. Blocks that a reorg may have replaced are looked at again; what is done of them is
 * noted, so that it is done once. A chain that began anew under its old id is looked at whole, and all that is known of
 * it is asked for again.
 */
export async function enqueueUpdates(
  sql: Sql,
  { network, chain_id, indexed_block, genesis_hash }: IndexedNetwork,
): Promise<UpdateResult> {
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
    const isAnew = watermark.genesis_hash !== genesis_hash && watermark.genesis_hash !== "" && genesis_hash !== "";
    const seen = isAnew ? -1 : watermark.block_number;
    if (seen >= indexed_block) return { count: 0, isDone: true };
    if (isAnew) await forgetChain(tx, { chainId: chain_id });
    const from = seen - REORG_BLOCKS;
    const updates = tx(`onchain_${network}.metadata_update`);
    const [step] = await tx<{ block_number: number }[]>`
      select block_number::float8 as block_number
      from ${updates}
      where block_number > ${seen}
      order by block_number, log_index
      offset ${STEP_UPDATES}
      limit 1
    `;
    const to = Math.min(step?.block_number ?? indexed_block, indexed_block);
    // Tokens that aren't known are none, or come into the queue later and are read then.
    const { count } = await tx`
      with handled as (
        insert into offchain.handled_update (chain_id, block_number, log_index, contract_address, token_ids)
        select ${chain_id}, block_number, log_index, contract_address, concat_ws('-', from_token_id, to_token_id)
        from ${updates}
        where
          block_number > ${from}
          and block_number <= ${to}
        on conflict do nothing
        returning block_number, log_index
      ),
      fresh as materialized (
        select u.contract_address, u.from_token_id, u.to_token_id, u.kind
        from handled
        join ${updates} u using (block_number, log_index)
      ),
      contracts as (
        update offchain.contract_metadata m
        set
          uri_due_at = now(),
          uri_attempts = 0,
          is_uri_update_unseen = true
        from (select distinct contract_address from fresh where kind = 'contract') changed
        where
          m.chain_id = ${chain_id}
          and m.contract_address = changed.contract_address
      ),
      ranges as (
        insert into offchain.token_range
          (chain_id, contract_address, from_token_id, to_token_id, next_token_id, is_update)
        select ${chain_id}::bigint, contract_address, from_token_id, to_token_id, from_token_id, true
        from (select distinct contract_address, from_token_id, to_token_id from fresh where from_token_id < to_token_id) range
        where exists (
          select
          from offchain.token_metadata m
          where
            m.chain_id = ${chain_id}
            and m.contract_address = range.contract_address
            and m.token_id between range.from_token_id and range.to_token_id
        )
        on conflict (chain_id, contract_address, from_token_id, to_token_id) do update set
          is_repeated = true,
          is_update = true
      ),
      -- What has its turn already is read then. Locked before their contracts, as where outcomes are stored.
      unplaced as materialized (
        select m.contract_address, m.token_id
        from (select distinct contract_address, from_token_id from fresh where from_token_id = to_token_id) single
        cross join lateral (
          select contract_address, token_id
          from offchain.token_metadata
          where
            chain_id = ${chain_id}
            and contract_address = single.contract_address
            and token_id = single.from_token_id
            and turn is null
          for update
        ) m
      ),
      ${placeTokens(tx, chain_id)},
      marked as (
        update offchain.token_metadata m
        set
          turn = placed.turn,
          due_at = now(),
          attempts = 0,
          awaiting_metadata_update = true,
          is_update_unseen = true
        from placed
        where
          m.chain_id = ${chain_id}
          and m.contract_address = placed.contract_address
          and m.token_id = placed.token_id
      )
      select from fresh
    `;
    await tx`
      update offchain.token_watermark
      set
        updates_block_number = ${to},
        updates_genesis_hash = coalesce(nullif(${genesis_hash}, ''), updates_genesis_hash)
      where chain_id = ${chain_id}
    `;
    await tx`delete from offchain.handled_update where chain_id = ${chain_id} and block_number < ${from - REORG_BLOCKS}`;
    return { count, isDone: to >= indexed_block };
  });
}

/** At an address of before there may be another contract: all is asked for again, and what is there shown until then. */
async function forgetChain(tx: TransactionSql, { chainId }: { chainId: number }): Promise<void> {
  await tx`delete from offchain.handled_update where chain_id = ${chainId}`;
  await tx`
    update offchain.contract_metadata
    set
      due_at = now(),
      attempts = 0,
      uri_due_at = now(),
      uri_attempts = 0,
      uri_function = null,
      id_form = null
    where chain_id = ${chainId}
  `;
  await tx`
    insert into offchain.token_range (chain_id, contract_address, from_token_id, to_token_id, next_token_id)
    select chain_id, contract_address, 0, ${MAX_TOKEN_ID}::numeric, 0
    from offchain.contract_metadata
    where chain_id = ${chainId}
    on conflict (chain_id, contract_address, from_token_id, to_token_id) do update set is_repeated = true
  `;
}
