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
  reorgs: number;
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
      reorgs,
      extract(epoch from now() - reported_at)::float8 as silent_seconds,
      to_regclass('onchain_' || name || '.token_event') is not null as has_tables
    from offchain.network
    order by name
  `;
}
