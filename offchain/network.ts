import type { Sql } from "postgres";
import type { Network } from "../config.ts";

/**
 * A reorg may replace so many blocks: what was made of them is looked at again. More than Ponder takes any chain to need
 * until a block is final (65 on mainnet, 200 on Polygon, 240 on Arbitrum).
 */
export const REORG_BLOCKS = 300;

/** What the indexer says of a network: a row of `offchain.network`. */
export type NetworkReport = {
  name: Network;
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
};

/** How far a network is indexed, and out of which set of tables readers read. */
export type IndexedNetwork = {
  network: Network;
  chain_id: number;
  indexed_block: number;
  head_block: number;
  /** Up to it the tables have what no reorg replaces. */
  finalized_block: number;
  /** Empty where no deployment is known. */
  deployment: string;
  /** Of the deployment's chain: one that began anew under its old id has another. Empty where it isn't known. */
  genesis_hash: string;
};

/** The networks that the indexer has reported on so far. */
export async function listIndexedNetworks(sql: Sql): Promise<IndexedNetwork[]> {
  return sql<IndexedNetwork[]>`
    select
      network.name as network,
      network.chain_id::float8 as chain_id,
      network.indexed_block::float8 as indexed_block,
      network.head_block::float8 as head_block,
      network.finalized_block::float8 as finalized_block,
      coalesce(newest.schema_name, '') as deployment,
      coalesce(newest.genesis_hash, '') as genesis_hash
    from offchain.network
    left join lateral (
      select schema_name, genesis_hash
      from offchain.deployment
      where
        deployment.network = network.name
        and deployment.chain_id = network.chain_id
      order by deployment.published_at desc nulls last, deployment.created_at desc
      limit 1
    ) newest on true
    order by network.name
  `;
}

/** Undefined table or schema: the indexer has not made its tables yet. */
export function isMissingTable(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "42P01" || error.code === "3F000");
}
