import type { Sql, TransactionSql } from "postgres";
import { type Hex, maxUint256 } from "viem";
import { toBytea } from "../bytea.ts";
import { isDropped } from "./dropped-token.ts";
import { makeTokensDue } from "./token-turn.ts";

/** How many tokens of a range are made due in one step. */
const RANGE_STEP = 1000;
/** Of how many contracts a range is walked in one step. */
const CONTRACTS_PER_STEP = 20;
/** The highest token id. */
const MAX_TOKEN_ID = maxUint256.toString();

type TokenRange = {
  contract_address: Buffer;
  from_token_id: string;
  to_token_id: string;
  next_token_id: string;
  is_repeated: boolean;
  is_update: boolean;
};

/** The last contract of a step. Undefined at the beginning, and after all contracts had their turn. */
export type ContractPlace = Buffer | undefined;

/** Requests that all tokens of a contract, or those of a range, are fetched again. */
export async function requestRange(
  sql: Sql,
  {
    chainId,
    contractAddress,
    from = "0",
    to = MAX_TOKEN_ID,
  }: { chainId: number; contractAddress: Hex; from?: string; to?: string },
): Promise<void> {
  await sql`
    insert into offchain.token_range (chain_id, contract_address, from_token_id, to_token_id, next_token_id)
    values (${chainId}, ${toBytea(contractAddress)}::text::bytea, ${from}::numeric, ${to}::numeric, ${from}::numeric)
    on conflict (chain_id, contract_address, from_token_id, to_token_id) do update set is_repeated = true
  `;
}

/**
 * Makes tokens of waiting ranges due, of one range for each of some contracts. `after`: the last contract of the step
 * before, so that all contracts take turns. `isDone`: no range waits.
 */
export async function walkRanges(
  sql: Sql,
  { chainId, after }: { chainId: number; after?: ContractPlace },
): Promise<{ last: ContractPlace; isDone: boolean }> {
  let last = after;
  for (let contracts = 0; contracts < CONTRACTS_PER_STEP; contracts++) {
    const next = await walkNextRange(sql, { chainId, after: last });
    if (!next) return { last: undefined, isDone: last === undefined };
    last = next;
  }
  return { last, isDone: false };
}

/** Has its own transaction, so that tokens of only one contract are locked at once. */
async function walkNextRange(
  sql: Sql,
  { chainId, after = Buffer.alloc(0) }: { chainId: number; after: ContractPlace },
): Promise<ContractPlace> {
  return sql.begin(async (tx) => {
    const [next] = await tx<{ contract_address: Buffer }[]>`
      select contract_address
      from offchain.token_range
      where
        chain_id = ${chainId}
        and contract_address > ${after}
      order by contract_address
      limit 1
    `;
    if (!next) return undefined;
    const { contract_address } = next;
    // The contract is locked before its ranges and tokens, like where updates are taken up.
    await tx`
      select
      from offchain.contract_metadata
      where
        chain_id = ${chainId}
        and contract_address = ${contract_address}
      for update
    `;
    const [range] = await tx<TokenRange[]>`
      select
        contract_address,
        from_token_id,
        to_token_id,
        next_token_id,
        is_repeated,
        is_update
      from offchain.token_range
      where
        chain_id = ${chainId}
        and contract_address = ${contract_address}
      order by requested_at
      limit 1
      for update
    `;
    if (range) await walkRange(tx, { chainId, range });
    return contract_address;
  });
}

async function walkRange(
  tx: TransactionSql,
  { chainId, range }: { chainId: number; range: TokenRange },
): Promise<void> {
  const last = await makeDue(tx, { chainId, range });
  const key = tx`
    chain_id = ${chainId}
    and contract_address = ${range.contract_address}
    and from_token_id = ${range.from_token_id}::numeric
    and to_token_id = ${range.to_token_id}::numeric
  `;
  // Each step moves the range to the end of its contract's queue, so that a large range doesn't hold up the others.
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

/** The last token that was made due, undefined where there was none. `is_full`: more tokens may follow. */
async function makeDue(
  tx: TransactionSql,
  { chainId, range }: { chainId: number; range: TokenRange },
): Promise<{ token_id: string; is_full: boolean } | undefined> {
  const [last] = await tx<{ token_id: string; is_full: boolean }[]>`
    with asked as materialized (
      select m.contract_address, m.token_id, m.turn
      from offchain.token_metadata m
      where
        m.chain_id = ${chainId}
        and m.contract_address = ${range.contract_address}
        and m.token_id >= ${range.next_token_id}::numeric
        and m.token_id <= ${range.to_token_id}::numeric
        and not ${isDropped(tx, { chainId })}
      order by m.token_id
      limit ${RANGE_STEP}
      for update of m
    ),
    ${makeTokensDue(tx, { chainId, isUpdate: range.is_update })}
    select max(token_id)::text as token_id, count(*) = ${RANGE_STEP} as is_full
    from asked
    having count(*) > 0
  `;
  return last;
}
