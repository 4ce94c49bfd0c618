import type { ISql, Sql } from "postgres";
import type { Network } from "../config.ts";

/**
 * How many blocks a reorg may replace. What came of these blocks is looked at again. Ponder waits for fewer blocks
 * until they are final (65 on mainnet, 200 on Polygon, 240 on Arbitrum).
 */
export const REORG_BLOCKS = 300;

/** What the indexer reports of a network: a row of `offchain.network`. */
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

/** How far a network is indexed, and which deployment's tables are read. */
export type IndexedNetwork = {
  network: Network;
  chain_id: number;
  indexed_block: number;
  head_block: number;
  /** No reorg replaces blocks up to this one. */
  finalized_block: number;
  /** Empty where no deployment is known. */
  deployment: string;
  /** Whether it was ever complete. */
  is_published: boolean;
  /** The hash of the genesis block tells a chain from an earlier one with the same id. Empty where it isn't known. */
  genesis_hash: string;
};

/** The last block that the indexer has seen of a network, decimal; 0 where it hasn't reported yet. */
export async function findHeadBlock(sql: Sql, { network }: { network: string }): Promise<string> {
  const [row] = await sql<{ head_block: string }[]>`
    select head_block::text
    from offchain.network
    where name = ${network}
  `;
  return row?.head_block ?? "0";
}

/** An indexer that has been silent for so long is taken to be gone, in seconds. It reports once a second. */
export const SILENCE_SECONDS = 15;

/** Whether an indexer follows the network now. Else what it last reported may be of another chain than the next will. */
export async function isFollowed(sql: Sql, { network }: { network: Network }): Promise<boolean> {
  const rows = await sql`
    select
    from offchain.network
    where
      name = ${network}
      and state <> 'stalled'
      -- A time in the future is from before the clock was set back.
      and abs(extract(epoch from now() - reported_at)) < ${SILENCE_SECONDS}
  `;
  return rows.length > 0;
}

/** The networks that the indexer has reported on. */
export async function listIndexedNetworks(sql: ISql): Promise<IndexedNetwork[]> {
  return sql<IndexedNetwork[]>`
    select
      network.name as network,
      network.chain_id::float8 as chain_id,
      network.indexed_block::float8 as indexed_block,
      network.head_block::float8 as head_block,
      network.finalized_block::float8 as finalized_block,
      coalesce(newest.schema_name, '') as deployment,
      newest.published_at is not null as is_published,
      coalesce(newest.genesis_hash, '') as genesis_hash
    from offchain.network
    left join lateral (
      select schema_name, published_at, genesis_hash
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

/** Whether an error says that a table or schema is missing: the indexer hasn't made its tables yet. */
export function isMissingTable(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "42P01" || error.code === "3F000");
}
