import type { Sql } from "postgres";
import type { Network } from "../config.ts";
import type { NetworkReport } from "../offchain/network.ts";
import type { Deployment } from "./deployment.ts";

/** Counts the logs that were left out. There are few of them. */
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

/** Reports of networks that they are to be indexed, by their chain ids, where nothing was reported of them before. */
export async function markBegun(sql: Sql, chainIds: Partial<Record<Network, number>>): Promise<void> {
  for (const [network, chainId] of Object.entries(chainIds))
    await sql`
      insert into offchain.network (name, chain_id, state)
      values (${network}, ${chainId}, 'backfill')
      on conflict (name) do nothing
    `;
}

/** Reports that nobody follows these networks, until somebody reports again. */
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

/** Reports why a network can't be begun. What was reported of its blocks before stays. */
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

/** The line of a report. `block`: the last block of what is being built, which readers may not see yet. */
export function formatReport(report: NetworkReport, { block }: { block: number }): string {
  const { name, state, reason, progress, head_block, logs_per_second, eta_seconds } = report;
  // toLocaleString takes 35 ms to load its data.
  const number = (value: number) => String(Math.round(value)).replaceAll(/\B(?=(\d{3})+$)/g, ",");
  if (state === "stalled") return `${name}  stalled at block ${number(block)}: ${reason}`;
  if (state === "live") return `${name}  live at block ${number(block)}`;
  const percent = (Math.floor(progress * 1000) / 10).toFixed(1);
  const eta = eta_seconds === null ? "" : `, ${formatDuration(eta_seconds)} left`;
  // Few logs are no standstill, as "0 logs/s" would say.
  const rate = Math.round(logs_per_second) > 0 ? `, ${number(logs_per_second)} logs/s` : "";
  return `${name}  backfill ${percent} %, block ${number(block)} of ${number(head_block)}${rate}${eta}`;
}

function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
