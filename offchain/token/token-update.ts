import type { Sql } from "postgres";
import { REORG_BLOCKS } from "../contract/contract-watermark.ts";
import type { IndexedNetwork } from "../network.ts";
import { type TokenKey, toBytea } from "./token-queue.ts";
import { headTurn } from "./token-watermark.ts";

/** Updates taken up in one step. */
const STEP_UPDATES = 20_000;
/** Tokens of a range that are made due in one step. */
const RANGE_STEP = 1000;
/** Ranges walked in one step. */
const RANGES_PER_STEP = 20;
/** The highest token id. */
const MAX_TOKEN_ID = (2n ** 256n - 1n).toString();

/**
 * Takes up what contracts said of changed metadata up to an indexed block: a token or the contract itself becomes due, a
 * range is one row, to be walked. Blocks that a reorg may have replaced are looked at again; what is done of them is
 * noted, so that it is done once. A chain that began anew under its old id is looked at whole.
 */
export async function enqueueUpdates(
  sql: Sql,
  { network, chain_id, indexed_block, genesis_hash }: IndexedNetwork,
): Promise<number> {
  return sql.begin(async (tx) => {
    const [watermark] = await tx<{ block_number: number; genesis_hash: string }[]>`
      select
        updates_block_number::float8 as block_number,
        updates_genesis_hash as genesis_hash
      from offchain.token_watermark
      where chain_id = ${chain_id}
      for update skip locked
    `;
    if (!watermark) return 0;
    const isAnew = watermark.genesis_hash !== genesis_hash && watermark.genesis_hash !== "" && genesis_hash !== "";
    const seen = isAnew ? -1 : watermark.block_number;
    if (seen >= indexed_block) return 0;
    if (isAnew) await tx`delete from offchain.handled_update where chain_id = ${chain_id}`;
    const from = seen - REORG_BLOCKS;
    const [step] = await tx<{ block_number: number }[]>`
      select block_number::float8 as block_number
      from ${tx(`onchain_${network}`)}.metadata_update
      where block_number > ${seen}
      order by block_number, log_index
      offset ${STEP_UPDATES}
      limit 1
    `;
    const to = Math.min(step?.block_number ?? indexed_block, indexed_block);
    const { count } = await tx`
      with handled as (
        insert into offchain.handled_update (chain_id, block_number, log_index, contract_address, token_ids)
        select ${chain_id}, block_number, log_index, contract_address, concat_ws('-', from_token_id, to_token_id)
        from ${tx(`onchain_${network}`)}.metadata_update
        where
          block_number > ${from}
          and block_number <= ${to}
        on conflict do nothing
        returning block_number, log_index
      ),
      fresh as materialized (
        select u.contract_address, u.from_token_id, u.to_token_id, u.kind
        from handled
        join ${tx(`onchain_${network}`)}.metadata_update u using (block_number, log_index)
      ),
      contracts as (
        update offchain.contract_metadata m
        set
          uri_due_at = now(),
          uri_attempts = 0
        from (select distinct contract_address from fresh where kind = 'contract') changed
        where
          m.chain_id = ${chain_id}
          and m.contract_address = changed.contract_address
      ),
      -- A single token is a range of one: it takes the same way, and repeated ones become one row.
      ranges as (
        insert into offchain.token_range (chain_id, contract_address, from_token_id, to_token_id, next_token_id)
        select distinct ${chain_id}::bigint, contract_address, from_token_id, to_token_id, from_token_id
        from fresh
        where kind <> 'contract'
        on conflict (chain_id, contract_address, from_token_id, to_token_id) do update set is_repeated = true
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
    return count;
  });
}

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

/** Makes some tokens of waiting ranges due. Returns how many, and whether ranges are left. */
export async function walkRanges(
  sql: Sql,
  { chainId }: { chainId: number },
): Promise<{ count: number; isDone: boolean }> {
  return sql.begin(async (tx) => {
    const ranges = await tx<
      {
        contract_address: Buffer;
        from_token_id: string;
        to_token_id: string;
        next_token_id: string;
        is_repeated: boolean;
      }[]
    >`
      select contract_address, from_token_id, to_token_id, next_token_id, is_repeated
      from offchain.token_range
      where chain_id = ${chainId}
      order by requested_at
      limit ${RANGES_PER_STEP}
      for update skip locked
    `;
    let count = 0;
    for (const range of ranges) {
      const marked = await tx<{ token_id: string; is_full: boolean }[]>`
        with head as materialized (${headTurn(tx, chainId)}),
        next as materialized (
          select token_id, row_number() over (order by token_id) as place
          from (
            select token_id
            from offchain.token_metadata
            where
              chain_id = ${chainId}
              and contract_address = ${range.contract_address}
              and token_id >= ${range.next_token_id}::numeric
              and token_id <= ${range.to_token_id}::numeric
            order by token_id
            limit ${RANGE_STEP}
          ) found
        ),
        marked as (
          update offchain.token_metadata m
          set
            turn = coalesce(m.turn, head.turn + next.place),
            due_at = now(),
            attempts = 0,
            awaiting_metadata_update = true
          from next
          cross join head
          where
            m.chain_id = ${chainId}
            and m.contract_address = ${range.contract_address}
            and m.token_id = next.token_id
        )
        select max(token_id)::text as token_id, count(*) = ${RANGE_STEP} as is_full
        from next
        having count(*) > 0
      `;
      const [last] = marked;
      count += last ? 1 : 0;
      const key = tx`
        chain_id = ${chainId}
        and contract_address = ${range.contract_address}
        and from_token_id = ${range.from_token_id}::numeric
        and to_token_id = ${range.to_token_id}::numeric
      `;
      // To the end of the line after each step, so that ranges of other contracts are walked beside a large one.
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
