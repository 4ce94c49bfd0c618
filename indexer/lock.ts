import { setTimeout as sleep } from "node:timers/promises";
import type { ISql, Sql } from "postgres";
import type { Network } from "../config.ts";
import type { Log } from "./network-report.ts";

const ATTEMPT_EVERY_MS = 1_000;

/**
 * Whether a process has the lock of this version, and so follows the network. If none has, none can take it before the
 * transaction ends.
 */
export async function isLocked(sql: ISql, version: Version): Promise<boolean> {
  const [row] = await sql<{ acquired: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${lockName(version)}, 0)) as acquired
  `;
  return !row?.acquired;
}

/** The lock of one version on a network, as long as the session that took it lives. */
export type Lock = { check: () => Promise<void> };

/** Waits for the lock of whoever follows the network. It ends with its session, also when the holder is killed. */
export async function acquireLock(
  connection: Sql,
  { network, fingerprint, signal, log }: Version & { signal: AbortSignal; log: Log },
): Promise<Lock | undefined> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    const [row] = await connection<{ acquired: boolean; session: number }[]>`
      select
        pg_try_advisory_lock(hashtextextended(${lockName({ network, fingerprint })}, 0)) as acquired,
        pg_backend_pid() as session
    `;
    if (row?.acquired) return { check: () => checkSession(connection, row) };
    // Not at once: that a killed process is gone is noticed a little later.
    if (attempt === 5) log("info", `${network}  another indexer follows this network; standing by`);
    await sleep(ATTEMPT_EVERY_MS, undefined, { signal }).catch(() => {});
  }
  return undefined;
}

/** The driver replaces a lost connection silently, but the lock is lost with it: somebody else may have it now. */
async function checkSession(connection: Sql, { session }: { session: number }): Promise<void> {
  const [row] = await connection<{ session: number }[]>`select pg_backend_pid() as session`;
  if (row?.session !== session) throw new Error("The connection to Postgres was lost");
}

type Version = { network: Network; fingerprint: string };
const lockName = ({ network, fingerprint }: Version) => `${network}:${fingerprint}`;
