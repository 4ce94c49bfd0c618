import type { Sql } from "postgres";
import type { Deployment } from "../deployment.ts";

/** How far a deployment is: blocks, and the time of the last one. Undefined before Ponder has written its first mark. */
export type Position = {
  indexedBlock: number;
  indexedTimestamp: number;
  finalizedBlock: number;
  /** It has caught up with the head once since Ponder last started on it. */
  isReady: boolean;
};

/** Reads what Ponder noted in the deployment's schema, in the same transaction as the rows themselves. */
export async function readPosition(sql: Sql, { schema_name }: Deployment): Promise<Position | undefined> {
  const [tables] = await sql<{ exist: boolean }[]>`
    select
      to_regclass(${`"${schema_name}"._ponder_checkpoint`}) is not null
      and to_regclass(${`"${schema_name}"._ponder_meta`}) is not null as exist
  `;
  if (!tables?.exist) return undefined;
  const [row] = await sql<{ latest: string; finalized: string; is_ready: boolean }[]>`
    select
      c.latest_checkpoint as latest,
      c.finalized_checkpoint as finalized,
      (m.value ->> 'is_ready')::int = 1 as is_ready
    from ${sql(`${schema_name}._ponder_checkpoint`)} c
    cross join ${sql(`${schema_name}._ponder_meta`)} m
  `;
  if (!row) return undefined;
  const latest = decodeCheckpoint(row.latest);
  return {
    indexedBlock: latest.block,
    indexedTimestamp: latest.timestamp,
    finalizedBlock: decodeCheckpoint(row.finalized).block,
    isReady: row.is_ready,
  };
}

/**
 * Ponder's mark: 10 digits of Unix seconds, 16 of chain id, 16 of block, 33 of the place in it. A mark inside a block
 * means that only the block before it is complete.
 */
export function decodeCheckpoint(checkpoint: string): { block: number; timestamp: number } {
  const isWholeBlock = /^9+$/.test(checkpoint.slice(42));
  const block = Number(checkpoint.slice(26, 42));
  return {
    block: isWholeBlock ? block : Math.max(0, block - 1),
    timestamp: Number(checkpoint.slice(0, 10)),
  };
}
