import type { Sql } from "postgres";
import { eventHash } from "../event-hash.ts";
import { type IndexedNetwork, REORG_BLOCKS } from "../network.ts";

/**
 * Makes new contracts due: those in blocks indexed since the last look, and in blocks before it that a reorg may have
 * replaced. Known contracts don't change, except those that were dropped because an earlier deployment lacked them, and
 * those that came by another event, as a reorg may put another contract at an address. After a new deployment is published
 * all blocks are looked at, because it may have more contracts in old blocks (another start block, another list).
 */
export async function enqueueContracts(
  sql: Sql,
  { network, chain_id, indexed_block, deployment }: IndexedNetwork,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      insert into offchain.contract_watermark (chain_id, block_number)
      values (${chain_id}, 0)
      on conflict do nothing
    `;
    // Locked, so that only one of many workers looks. The others find nothing left to do.
    const [watermark] = await tx<{ block_number: number; deployment: string }[]>`
      select block_number::float8 as block_number, deployment
      from offchain.contract_watermark
      where chain_id = ${chain_id}
      for update skip locked
    `;
    if (!watermark || (watermark.block_number === indexed_block && watermark.deployment === deployment)) return;
    const from =
      watermark.deployment === deployment ? Math.min(watermark.block_number, indexed_block) - REORG_BLOCKS : 0;
    const onchain = tx(`onchain_${network}`);
    const seen = tx`
      seen as materialized (
        select c.contract_address, first_event.hash
        from ${onchain}.contract c
        left join lateral (
          select ${eventHash(tx, { timestamp: "e.timestamp", transactionHash: "e.transaction_hash" })} as hash
          from ${onchain}.token_event e
          where
            e.block_number = c.block_number
            and e.log_index = c.log_index
          limit 1
        ) first_event on true
        where c.block_number between ${from} and ${indexed_block}
      )
    `;
    await tx`
      with ${seen}
      insert into offchain.contract_metadata (chain_id, contract_address, due_at, uri_due_at, first_event_hash)
      select ${chain_id}, contract_address, now(), now(), hash
      from seen
      where not exists (
        select
        from offchain.contract_metadata known
        where
          known.chain_id = ${chain_id}
          and known.contract_address = seen.contract_address
          and known.first_event_hash is not null
      )
      order by contract_address
      -- Another worker may have come to its tokens before.
      on conflict (chain_id, contract_address) do update set first_event_hash = excluded.first_event_hash
    `;
    await tx`
      with ${seen},
      back as materialized (
        select
          m.contract_address,
          seen.hash,
          m.first_event_hash <> seen.hash as is_other
        from seen
        join offchain.contract_metadata m
          on m.chain_id = ${chain_id}
          and m.contract_address = seen.contract_address
        where
          m.is_dropped
          or m.first_event_hash <> seen.hash
        order by m.contract_address
        for update of m
      )
      update offchain.contract_metadata m
      set
        is_dropped = false,
        due_at = now(),
        attempts = 0,
        uri_due_at = now(),
        uri_attempts = 0,
        is_update_unseen = true,
        is_uri_update_unseen = true,
        -- The name may be that of the one that lost, and a document's takes its place.
        is_name_of_uri = m.is_name_of_uri or coalesce(back.is_other, false),
        first_event_hash = back.hash
      from back
      where
        m.chain_id = ${chain_id}
        and m.contract_address = back.contract_address
    `;
    await tx`
      update offchain.contract_watermark
      set block_number = ${indexed_block}, deployment = ${deployment}
      where chain_id = ${chain_id}
    `;
  });
}
