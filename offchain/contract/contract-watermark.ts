import type { Sql } from "postgres";
import { type IndexedNetwork, REORG_BLOCKS } from "../network.ts";

/**
 * Makes new contracts due: those in blocks indexed since the last look, and in blocks before it that a reorg may have
 * replaced. Known contracts don't change, except those that were dropped because an earlier deployment lacked them. After
 * a new deployment is published all blocks are looked at, because it may have more contracts in old blocks (another start
 * block, another list).
 *
 * @returns how many contracts are new
 */
export async function enqueueContracts(sql: Sql, { network, chain_id, indexed_block, deployment }: IndexedNetwork) {
  return sql.begin(async (tx) => {
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
    if (!watermark) return 0;
    if (watermark.block_number === indexed_block && watermark.deployment === deployment) return 0;
    const from =
      watermark.deployment === deployment ? Math.min(watermark.block_number, indexed_block) - REORG_BLOCKS : 0;
    const { count } = await tx`
      insert into offchain.contract_metadata (chain_id, contract_address, due_at, uri_due_at)
      select ${chain_id}, contract_address, now(), now()
      from ${tx(`onchain_${network}`)}.contract
      where block_number between ${from} and ${indexed_block}
      order by contract_address
      on conflict do nothing
    `;
    await tx`
      with back as materialized (
        select m.contract_address
        from ${tx(`onchain_${network}`)}.contract c
        join offchain.contract_metadata m
          on m.chain_id = ${chain_id}
          and m.contract_address = c.contract_address
        where
          c.block_number between ${from} and ${indexed_block}
          and m.is_dropped
        order by m.contract_address
        for update of m
      )
      update offchain.contract_metadata m
      set
        is_dropped = false,
        due_at = now(),
        attempts = 0,
        uri_due_at = now(),
        uri_attempts = 0
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
    return count;
  });
}
