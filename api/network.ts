import type { Sql } from "postgres";
import type { NetworkReport } from "../offchain/network.ts";

/** What the indexer last said of a network, how long ago, and whether its tables can be read and are those of a replica. */
export type NetworkRow = NetworkReport & { silent_seconds: number; has_tables: boolean; is_replica: boolean };

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
      -- A time in the future is from before the clock was set back, or seen by a replica whose clock is a little behind.
      abs(extract(epoch from now() - reported_at))::float8 as silent_seconds,
      to_regclass('onchain_' || name || '.token_event') is not null as has_tables,
      pg_is_in_recovery() as is_replica
    from offchain.network
    order by name
  `;
}
