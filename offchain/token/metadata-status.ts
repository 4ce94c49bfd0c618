import type { Sql } from "postgres";

/** How far metadata is fetched, as `/status` has it. */
export type MetadataStatus = {
  tokens: number;
  /** Tokens with a document. */
  fetched: number;
  /** Tokens without a document that were not tried yet. */
  waiting: number;
  /** Tokens without a document that were tried. */
  failing: number;
  /** The sum over all workers that have reported lately. */
  fetches_per_second: number;
  /** How long the token that is due for longest has waited. Null where none is due. */
  oldest_due_seconds: number | null;
  /** Tokens that fail now, by reason and host, the most frequent first. */
  failures: { code: string; host: string; tokens: number }[];
  workers: number;
};

/** The number of rows of failures in the status. */
const MAX_FAILURES = 50;
/** A worker that hasn't reported for so long is gone. */
export const WORKER_SECONDS = 20;
/** The oldest due token is looked for among so many tokens at the head of the queue. */
const HEAD = 200;

/**
 * The state of the metadata, of one network or of all. Reads counters and the head of the queue, and never counts
 * tokens.
 */
export async function readMetadataStatus(sql: Sql, { chainId }: { chainId?: number } = {}): Promise<MetadataStatus> {
  // The metadata of chains that are no longer indexed is kept, but doesn't count here.
  const ofChain =
    chainId === undefined ? sql`chain_id in (select chain_id from offchain.network)` : sql`chain_id = ${chainId}`;
  const [row] = await sql<Omit<MetadataStatus, "waiting">[]>`
    select
      coalesce(counts.tokens, 0)::float8 as tokens,
      coalesce(counts.fetched, 0)::float8 as fetched,
      coalesce(counts.failing, 0)::float8 as failing,
      coalesce(workers.fetches_per_second, 0)::float8 as fetches_per_second,
      coalesce(workers.count, 0)::int as workers,
      extract(epoch from now() - oldest.due_at)::float8 as oldest_due_seconds,
      coalesce(failures.list, '[]'::json) as failures
    from
      (
        select sum(tokens) as tokens, sum(fetched) as fetched, sum(failing) as failing
        from offchain.metadata_count
        where ${ofChain}
      ) counts
    cross join (
      select sum(fetches_per_second) as fetches_per_second, count(*) as count
      from offchain.metadata_worker
      -- A time in the future is from before the clock was set back, or seen by a replica whose clock is a little behind.
      where abs(extract(epoch from now() - reported_at)) < ${WORKER_SECONDS}
    ) workers
    cross join (
      select min(due_at) as due_at
      from (
        select ready.due_at
        from offchain.network
        cross join lateral (
          select due_at
          from offchain.token_metadata
          where
            chain_id = network.chain_id
            and turn is not null
          order by turn
          limit ${HEAD}
        ) ready
        where ${ofChain}
        union all
        select waiting.due_at
        from offchain.network
        cross join lateral (
          select due_at
          from offchain.token_metadata
          where
            chain_id = network.chain_id
            and turn is null
            and due_at <= now()
          order by due_at
          limit 1
        ) waiting
        where ${ofChain}
      ) due
    ) oldest
    cross join (
      select json_agg(json_build_object('code', code, 'host', host, 'tokens', tokens)) as list
      from (
        select failure.code, failure.host, sum(failure.tokens)::float8 as tokens
        from (
          select distinct failing.code, failing.host
          from offchain.network
          cross join lateral (
            select code, host
            from offchain.metadata_failure
            where
              chain_id = network.chain_id
              and tokens > 0
            order by tokens desc
            limit ${MAX_FAILURES}
          ) failing
          where ${ofChain}
        ) found
        cross join (select chain_id from offchain.network where ${ofChain}) chain
        inner join offchain.metadata_failure failure
          on failure.chain_id = chain.chain_id
          and failure.code = found.code
          and failure.host = found.host
        group by failure.code, failure.host
        order by sum(failure.tokens) desc, failure.code, failure.host
        limit ${MAX_FAILURES}
      ) most
    ) failures
  `;
  if (!row) throw new Error("The status query answered nothing.");
  return { ...row, waiting: Math.max(row.tokens - row.fetched - row.failing, 0) };
}
