import type { Sql, TransactionSql } from "postgres";
import { toBytea } from "../bytea.ts";
import type { IndexedNetwork } from "../network.ts";
import { type CountedRow, countOut } from "./metadata-count.ts";
import type { TokenKey } from "./token-queue.ts";

/** How many tokens are looked up in one step. */
const STEP_TOKENS = 5000;

/**
 * Deletes tokens whose block was replaced by a reorg, if they are in no block now that it is final, and subtracts them
 * from the counters. Until then they are kept, because most come back in a block of the winning chain. `isDone`:
 * nothing is left to look at now.
 */
export async function settleTokens(
  sql: Sql,
  { network, chain_id, finalized_block }: IndexedNetwork,
): Promise<{ isDone: boolean }> {
  return sql.begin(async (tx) => {
    const tokens = await tx<(TokenKey & { is_lost: boolean })[]>`
      with settled as (
        delete from offchain.unsettled_token
        where
          ctid = any (
            array(
              select ctid
              from offchain.unsettled_token
              where
                chain_id = ${chain_id}
                and block_number <= ${finalized_block}
              order by block_number
              limit ${STEP_TOKENS}
              for update skip locked
            )
          )
        returning contract_address, token_id
      ),
      seen as materialized (
        select
          settled.contract_address,
          settled.token_id,
          first_event.block_number
        from settled
        left join lateral (
          select e.block_number
          from ${tx(`onchain_${network}.token_event`)} e
          where
            e.contract_address = settled.contract_address
            and e.token_id = settled.token_id
          order by e.block_number, e.log_index, e.batch_index
          limit 1
        ) first_event on true
      ),
      -- They came back, in a block that may be replaced in turn.
      unsettled as (
        insert into offchain.unsettled_token (chain_id, block_number, contract_address, token_id)
        select distinct ${chain_id}::bigint, block_number, contract_address, token_id
        from seen
        where block_number > ${finalized_block}
        on conflict do nothing
      )
      select distinct
        '0x' || encode(contract_address, 'hex') as contract_address,
        token_id,
        block_number is null as is_lost
      from seen
    `;
    const lost = tokens.filter(({ is_lost }) => is_lost);
    if (lost.length > 0) await deleteTokens(tx, { chainId: chain_id, lost });
    return { isDone: tokens.length === 0 };
  });
}

async function deleteTokens(tx: TransactionSql, { chainId, lost }: { chainId: number; lost: TokenKey[] }) {
  const keys = tx`
    unnest(
      ${lost.map(({ contract_address }) => toBytea(contract_address))}::text[]::bytea[],
      ${lost.map(({ token_id }) => token_id)}::text[]::numeric[]
    ) as key (contract_address, token_id)
  `;
  const ofKey = tx`
    m.chain_id = ${chainId}
    and m.contract_address = key.contract_address
    and m.token_id = key.token_id
  `;
  // Everybody locks tokens in this order.
  await tx`
    select
    from offchain.token_metadata m
    join ${keys} on ${ofKey}
    order by m.contract_address, m.token_id
    for update of m
  `;
  const deleted = await tx<CountedRow[]>`
    delete from offchain.token_metadata m
    using ${keys}
    where ${ofKey}
    returning m.counted_as, m.error_code, m.error_host
  `;
  await countOut(tx, { chainId, tokens: deleted });
}
