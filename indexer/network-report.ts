import type { Sql } from "postgres";
import type { Network } from "../config.ts";
import type { NetworkReport } from "../offchain/network.ts";
import type { Deployment } from "./deployment.ts";

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

/** Counts the logs that were left out. Few, so that counting them all costs little. */
export async function countSkippedLogs(sql: Sql, { schema_name }: Deployment): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::float8 as count from ${sql(`${schema_name}.skipped_log`)}
  `;
  return row?.count ?? 0;
}

/** Tells the API how the network is doing. */
export async function writeReport(sql: Sql, report: NetworkReport): Promise<void> {
  await sql`
    insert into offchain.network ${sql(report)}
    on conflict (name) do update set
      ${sql(report, ...(Object.keys(report) as (keyof NetworkReport)[]))},
      reported_at = now()
  `;
}

/** Says that nobody follows these networks now, until somebody reports again. */
export async function markStopped(
  sql: Sql,
  { networks, reason }: { networks: readonly Network[]; reason: string },
): Promise<void> {
  await sql`
    update offchain.network
    set
      state = 'stalled',
      reason = ${reason},
      logs_per_second = 0,
      eta_seconds = null
    where name in ${sql(networks)}
  `;
}

/** Says why a network can't be begun. What was told of its blocks before stays. */
export async function markStalled(
  sql: Sql,
  { network, chainId, reason }: { network: Network; chainId: number; reason: string },
): Promise<void> {
  await sql`
    insert into offchain.network (name, chain_id, state, reason)
    values (${network}, ${chainId}, 'stalled', ${reason})
    on conflict (name) do update set
      state = excluded.state,
      reason = excluded.reason,
      logs_per_second = 0,
      eta_seconds = null,
      reported_at = now()
  `;
}

/** A line for the terminal: how things go, or what goes wrong. */
export type Log = (level: "info" | "error", line: string) => void;

/** The line of a report. `block`: how far what is built is, which readers may not see yet. */
export function formatReport(report: NetworkReport, { block }: { block: number }): string {
  const { name, state, reason, progress, head_block, logs_per_second, eta_seconds } = report;
  // What knows how numbers are written anywhere takes 35 ms to load.
  const number = (value: number) => String(Math.round(value)).replaceAll(/\B(?=(\d{3})+$)/g, ",");
  if (state === "stalled") return `${name}  stalled at block ${number(block)}: ${reason}`;
  if (state === "live") return `${name}  live at block ${number(block)}`;
  const percent = (Math.floor(progress * 1000) / 10).toFixed(1);
  const eta = eta_seconds === null ? "" : `, ${formatDuration(eta_seconds)} left`;
  const rate = logs_per_second > 0 ? `, ${number(logs_per_second)} logs/s` : "";
  return `${name}  backfill ${percent} %, block ${number(block)} of ${number(head_block)}${rate}${eta}`;
}

function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
