import type { Sql } from "postgres";

/** What the indexer last said of a network, and whether its tables can be read. */
export type NetworkRow = {
  name: "mainnet" | "testnet";
  chain_id: number;
  state: "backfill" | "live" | "stalled";
  reason: string | null;
  head_block: number;
  indexed_block: number;
  finalized_block: number;
  head_timestamp: number;
  indexed_timestamp: number;
  progress: number;
  logs_per_second: number;
  eta_seconds: number | null;
  skipped_logs: number;
  silent_seconds: number;
  has_tables: boolean;
};

/** The networks of this service, as the indexer reports them each second. */
export async function listNetworks(sql: Sql): Promise<NetworkRow[]> {
  return sql<NetworkRow[]>`
    select
      name,
      chain_id,
      state,
      reason,
      head_block,
      indexed_block,
      finalized_block,
      head_timestamp,
      indexed_timestamp,
      progress,
      logs_per_second,
      eta_seconds,
      skipped_logs,
      extract(epoch from now() - reported_at)::float8 as silent_seconds,
      to_regclass('onchain_' || name || '.token_event') is not null as has_tables
    from offchain.network
    order by name
  `;
}

/** How the fetching of metadata goes, over all networks. */
export type MetadataProgress = {
  tokens: number;
  fetched: number;
  waiting: number;
  failing: number;
  fetches_per_second: number;
  oldest_due_seconds: number | null;
};

/** A worker that said nothing for this long is gone, in seconds. */
const WORKER_SILENCE_SECONDS = 30;

/** Sums of what the workers count and report: no table of tokens is read. */
export async function findMetadataProgress(sql: Sql): Promise<MetadataProgress | undefined> {
  const [row] = await sql<MetadataProgress[]>`
    with counted as (
      select
        coalesce(sum(tokens), 0)::float8 as tokens,
        coalesce(sum(fetched), 0)::float8 as fetched,
        coalesce(sum(failing), 0)::float8 as failing
      from offchain.metadata_count
    ),
    due as (
      select least(
        (
          select min(ready.due_at)
          from offchain.network
          cross join lateral (
            select token_metadata.due_at
            from offchain.token_metadata
            where
              token_metadata.chain_id = network.chain_id
              and token_metadata.turn is not null
            order by token_metadata.turn
            limit 1
          ) as ready
        ),
        (
          select min(waiting.due_at)
          from offchain.network
          cross join lateral (
            select token_metadata.due_at
            from offchain.token_metadata
            where
              token_metadata.chain_id = network.chain_id
              and token_metadata.turn is null
              and token_metadata.due_at <= now()
            order by token_metadata.due_at
            limit 1
          ) as waiting
        )
      ) as due_at
    )
    select
      counted.tokens,
      counted.fetched,
      greatest(counted.tokens - counted.fetched - counted.failing, 0) as waiting,
      counted.failing,
      (
        select coalesce(sum(fetches_per_second), 0)::float8
        from offchain.metadata_worker
        where reported_at > now() - ${WORKER_SILENCE_SECONDS} * interval '1 second'
      ) as fetches_per_second,
      case
        when due.due_at is not null then greatest(extract(epoch from now() - due.due_at), 0)::float8
      end as oldest_due_seconds
    from counted
    cross join due
  `;
  return row;
}
