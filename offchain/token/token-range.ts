import type { Sql, TransactionSql } from "postgres";
import { type TokenKey, toBytea } from "./token-queue.ts";
import { placeTokens } from "./token-turn.ts";

/** Tokens of a range that are made due in one step. */
const RANGE_STEP = 1000;
/** Contracts of which a range is walked in one step. */
const CONTRACTS_PER_STEP = 20;
/** The highest token id. */
export const MAX_TOKEN_ID = (2n ** 256n - 1n).toString();

type TokenRange = {
  contract_address: Buffer;
  from_token_id: string;
  to_token_id: string;
  next_token_id: string;
  is_repeated: boolean;
  is_update: boolean;
};

/** Asks for all tokens of a contract, or of a range, to be fetched again. */
export async function requestRange(
  sql: Sql,
  {
    chainId,
    contractAddress,
    from = "0",
    to = MAX_TOKEN_ID,
  }: { chainId: number; contractAddress: TokenKey["contract_address"]; from?: string; to?: string },
): Promise<void> {
  await sql`
    insert into offchain.token_range (chain_id, contract_address, from_token_id, to_token_id, next_token_id)
    values (${chainId}, ${toBytea(contractAddress)}::text::bytea, ${from}::numeric, ${to}::numeric, ${from}::numeric)
    on conflict (chain_id, contract_address, from_token_id, to_token_id) do update set is_repeated = true
  `;
}

/** Makes some tokens of waiting ranges due. Returns how many ranges had any, and whether ranges are left. */
export async function walkRanges(
  sql: Sql,
  { chainId }: { chainId: number },
): Promise<{ count: number; isDone: boolean }> {
  return sql.begin(async (tx) => {
    const ranges = await claimRanges(tx, { chainId });
    let count = 0;
    for (const range of ranges) {
      const last = await makeDue(tx, { chainId, range });
      count += last ? 1 : 0;
      const key = tx`
        chain_id = ${chainId}
        and contract_address = ${range.contract_address}
        and from_token_id = ${range.from_token_id}::numeric
        and to_token_id = ${range.to_token_id}::numeric
      `;
      // To the end of the contract's line after each step, so that its other ranges are walked beside a large one.
      if (last?.is_full)
        await tx`
          update offchain.token_range
          set next_token_id = ${last.token_id}::numeric + 1, requested_at = now()
          where ${key}
        `;
      else if (range.is_repeated)
        await tx`
          update offchain.token_range
          set next_token_id = from_token_id, is_repeated = false, requested_at = now()
          where ${key}
        `;
      else await tx`delete from offchain.token_range where ${key}`;
    }
    return { count, isDone: ranges.length === 0 };
  });
}

/** One each of some contracts. Those are taken by chance: ranges cost little, and nobody's thousands come first. */
async function claimRanges(tx: TransactionSql, { chainId }: { chainId: number }): Promise<TokenRange[]> {
  return tx<TokenRange[]>`
    -- From contract to contract by the index, however many ranges each has.
    with recursive contract as (
      (
        select contract_address
        from offchain.token_range
        where chain_id = ${chainId}
        order by contract_address
        limit 1
      )
      union all
      select (
        select contract_address
        from offchain.token_range
        where
          chain_id = ${chainId}
          and contract_address > contract.contract_address
        order by contract_address
        limit 1
      )
      from contract
      where contract_address is not null
    ),
    chosen as materialized (
      select contract_address
      from contract
      where contract_address is not null
      order by random()
      limit ${CONTRACTS_PER_STEP}
    )
    select
      range.contract_address,
      range.from_token_id,
      range.to_token_id,
      range.next_token_id,
      range.is_repeated,
      range.is_update
    from chosen
    cross join lateral (
      select contract_address, from_token_id, to_token_id, next_token_id, is_repeated, is_update
      from offchain.token_range
      where
        chain_id = ${chainId}
        and contract_address = chosen.contract_address
      order by requested_at
      limit 1
      for update skip locked
    ) range
  `;
}

/** The last token that was made due, undefined where there is none. `is_full`: more may follow. */
async function makeDue(
  tx: TransactionSql,
  { chainId, range }: { chainId: number; range: TokenRange },
): Promise<{ token_id: string; is_full: boolean } | undefined> {
  const [last] = await tx<{ token_id: string; is_full: boolean }[]>`
    -- Locked before their contract, as where outcomes are stored.
    with next as materialized (
      select contract_address, token_id, turn
      from offchain.token_metadata
      where
        chain_id = ${chainId}
        and contract_address = ${range.contract_address}
        and token_id >= ${range.next_token_id}::numeric
        and token_id <= ${range.to_token_id}::numeric
      order by token_id
      limit ${RANGE_STEP}
      for update
    ),
    -- What has its turn already is read then.
    unplaced as (
      select contract_address, token_id
      from next
      where turn is null
    ),
    ${placeTokens(tx, chainId)},
    marked as (
      update offchain.token_metadata m
      set
        turn = placed.turn,
        due_at = now(),
        attempts = 0,
        awaiting_metadata_update = true,
        is_update_unseen = m.is_update_unseen or ${range.is_update}
      from placed
      where
        m.chain_id = ${chainId}
        and m.contract_address = placed.contract_address
        and m.token_id = placed.token_id
    )
    select max(token_id)::text as token_id, count(*) = ${RANGE_STEP} as is_full
    from next
    having count(*) > 0
  `;
  return last;
}
