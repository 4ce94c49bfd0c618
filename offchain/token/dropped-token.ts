import type { Fragment, ISql, Sql, TransactionSql } from "postgres";
import { type IndexedNetwork, listIndexedNetworks } from "../network.ts";
import { countChanges, type CountedRow, countOut } from "./metadata-count.ts";
import type { Blocks } from "./seen-token.ts";
import type { Counted } from "./token-queue.ts";

/** How many tokens are looked up in one step. */
const STEP_TOKENS = 5000;

type Walk = { deployment: string; contract_address: Buffer | null; token_id: string | null };
type Place = { contract_address: Buffer; token_id: string };

/**
 * Takes contracts and tokens out of the queue and the counters that a new deployment lacks once it is published, with
 * whatever was fetched of them kept. `isDone`: nothing is left to look at now.
 */
export async function dropTokens(
  sql: Sql,
  { network, chain_id }: Pick<IndexedNetwork, "network" | "chain_id">,
): Promise<{ isDone: boolean }> {
  return sql.begin(async (tx) => {
    // Of both, so that nothing is taken up meanwhile that a newer deployment has.
    const [walk] = await tx<Walk[]>`
      select
        tokens.drop_deployment as deployment,
        tokens.drop_contract as contract_address,
        tokens.drop_token_id as token_id
      from offchain.token_watermark tokens
      join offchain.contract_watermark contracts using (chain_id)
      where chain_id = ${chain_id}
      for update skip locked
    `;
    if (!walk) return { isDone: true };
    // Read once they are locked: this worker may have slept, and others have taken up what is published by now.
    const indexed = (await listIndexedNetworks(tx)).find((one) => one.network === network && one.chain_id === chain_id);
    // What is still being built lacks what it will have.
    if (!indexed?.is_published) return { isDone: true };
    const { deployment } = indexed;
    if (walk.deployment !== deployment) {
      await dropContracts(tx, indexed);
      await writeWalk(tx, indexed, { contract_address: Buffer.alloc(0), token_id: "0" });
      return { isDone: false };
    }
    const { contract_address, token_id } = walk;
    if (contract_address === null || token_id === null) return { isDone: true };
    const after = { contract_address, token_id };
    const last = await findLast(tx, indexed, after);
    await dropMissing(tx, indexed, after);
    await writeWalk(tx, indexed, last);
    return { isDone: !last };
  });
}

async function writeWalk(
  tx: TransactionSql,
  { chain_id, deployment }: IndexedNetwork,
  place: Place | undefined,
): Promise<void> {
  await tx`
    update offchain.token_watermark
    set
      drop_deployment = ${deployment},
      drop_contract = ${place?.contract_address ?? null},
      drop_token_id = ${place?.token_id ?? null}
    where chain_id = ${chain_id}
  `;
}

/** Nothing of these contracts is due any more. What brings them back makes them due. */
async function dropContracts(tx: TransactionSql, { chain_id, deployment }: IndexedNetwork): Promise<void> {
  await tx`
    with gone as materialized (
      select m.contract_address
      from offchain.contract_metadata m
      where
        m.chain_id = ${chain_id}
        and not m.is_dropped
        and not exists (
          select
          from ${tx(`${deployment}.contract`)} c
          where c.contract_address = m.contract_address
        )
      -- Everybody locks contracts in this order.
      order by m.contract_address
      for update of m
    )
    update offchain.contract_metadata m
    set
      is_dropped = true,
      due_at = null,
      uri_due_at = null
    from gone
    where
      m.chain_id = ${chain_id}
      and m.contract_address = gone.contract_address
  `;
}

/** The last token of a step. Undefined where it is the last step. */
async function findLast(tx: TransactionSql, { chain_id }: IndexedNetwork, after: Place): Promise<Place | undefined> {
  const [last] = await tx<Place[]>`
    select contract_address, token_id
    from offchain.token_metadata
    where
      chain_id = ${chain_id}
      and (contract_address, token_id) > (${after.contract_address}, ${after.token_id}::numeric)
    order by contract_address, token_id
    offset ${STEP_TOKENS - 1}
    limit 1
  `;
  return last;
}

/** Drops those of the tokens of a step that the deployment lacks. */
async function dropMissing(tx: TransactionSql, { chain_id, deployment }: IndexedNetwork, after: Place): Promise<void> {
  const dropped = await tx<CountedRow[]>`
    -- By key alone, for which the index is enough: most tokens are in the deployment.
    with looked as materialized (
      select contract_address, token_id
      from offchain.token_metadata
      where
        chain_id = ${chain_id}
        and (contract_address, token_id) > (${after.contract_address}, ${after.token_id}::numeric)
      order by contract_address, token_id
      limit ${STEP_TOKENS}
    ),
    missing as materialized (
      select m.contract_address, m.token_id
      from looked m
      where
        not exists (
          select
          from ${tx(`${deployment}.token`)} t
          where
            t.contract_address = m.contract_address
            and t.token_id = m.token_id
        )
        -- For some seconds after a restart of the indexer tokens of blocks that aren't final are lacking.
        and not exists (
          select
          from offchain.unsettled_token u
          where
            u.chain_id = ${chain_id}
            and u.contract_address = m.contract_address
            and u.token_id = m.token_id
        )
        and not ${isDropped(tx, { chainId: chain_id })}
    ),
    locked as materialized (
      select m.contract_address, m.token_id, m.counted_as, m.error_code, m.error_host
      from missing
      join offchain.token_metadata m
        on m.chain_id = ${chain_id}
        and m.contract_address = missing.contract_address
        and m.token_id = missing.token_id
      order by m.contract_address, m.token_id
      for update of m
    ),
    noted as (
      insert into offchain.dropped_token (chain_id, contract_address, token_id)
      select ${chain_id}, contract_address, token_id
      from locked
      on conflict do nothing
    ),
    dropped as (
      update offchain.token_metadata m
      set
        turn = null,
        due_at = null,
        media_due_at = null,
        awaiting_metadata_update = false,
        counted_as = null,
        -- What a claim comes to that is under way is stored nowhere.
        claim = m.claim + 1,
        stored_claim = m.claim + 1
      from locked
      where
        m.chain_id = ${chain_id}
        and m.contract_address = locked.contract_address
        and m.token_id = locked.token_id
    )
    select counted_as, error_code, error_host
    from locked
  `;
  await countOut(tx, { chainId: chain_id, tokens: dropped });
}

/**
 * Takes dropped tokens up again that are in these blocks: counted by what was fetched of them, and due, because nobody has
 * read what their contract said of changes meanwhile.
 */
export async function takeBackTokens(
  tx: TransactionSql,
  { network, chain_id }: IndexedNetwork,
  { from, to }: Blocks,
): Promise<void> {
  const back = await tx<{ counted_as: Counted }[]>`
    with seen as materialized (
      select distinct contract_address, token_id
      from ${tx(`onchain_${network}`)}.token_event
      where
        block_number > ${from}
        and block_number <= ${to}
    ),
    found as (
      delete from offchain.dropped_token d
      using seen
      where
        d.chain_id = ${chain_id}
        and d.contract_address = seen.contract_address
        and d.token_id = seen.token_id
      returning d.contract_address, d.token_id
    ),
    back as materialized (
      select m.contract_address, m.token_id, m.counted_as
      from found
      join offchain.token_metadata m
        on m.chain_id = ${chain_id}
        and m.contract_address = found.contract_address
        and m.token_id = found.token_id
      order by m.contract_address, m.token_id
      for update of m
    ),
    taken as (
      update offchain.token_metadata m
      set
        due_at = now(),
        attempts = 0,
        awaiting_metadata_update = true,
        -- Asked for since, it may be counted already.
        counted_as = coalesce(m.counted_as, case when m.normalized is null then 'new' else 'fetched' end)
      from back
      where
        m.chain_id = ${chain_id}
        and m.contract_address = back.contract_address
        and m.token_id = back.token_id
      returning m.counted_as, back.counted_as is null as is_uncounted
    )
    select counted_as
    from taken
    where is_uncounted
  `;
  await countChanges(tx, {
    chainId: chain_id,
    changes: back.map(({ counted_as }) => ({ before: null, after: { state: counted_as, code: null, host: null } })),
  });
}

/** Whether `m`, a token or what has its key, is dropped. `chainId`: a value, or SQL of one. */
export const isDropped = (sql: ISql, { chainId }: { chainId: number | Fragment }) => sql`
  exists (
    select
    from offchain.dropped_token d
    where
      d.chain_id = ${chainId}
      and d.contract_address = m.contract_address
      and d.token_id = m.token_id
  )
`;
