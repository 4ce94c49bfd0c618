import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { findFreePort } from "../bin/postgres.ts";
import type { Deployment } from "./deployment.ts";
import { startPonder } from "./ponder-process.ts";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** A run of this length was a good one: the next failure starts counting anew. */
const GOOD_RUN_MS = 120_000;

/** How long the connections of a killed Ponder may take to vanish. */
const STALE_LOCK_WAIT_MS = 10_000;

/** Keeps Ponder running on one deployment, for ever. */
export type PonderRunner = {
  deployment: Deployment;
  /** Why it isn't running now, if it isn't. */
  failure: () => string | undefined;
  /** Logs handled since the last call, by second. */
  readRate: () => Promise<number>;
  stop: () => Promise<void>;
};

/** Starts Ponder on a deployment, and again after each failure with a pause that doubles up to a minute. */
export function runPonder(
  sql: Sql,
  {
    deployment,
    databaseUrl,
    rpcUrl,
    logLevel,
    onFailure,
  }: {
    deployment: Deployment;
    databaseUrl: string;
    rpcUrl: string;
    logLevel: string;
    onFailure: (reason: string) => void;
  },
): PonderRunner {
  const stopping = new AbortController();
  let failure: string | undefined;
  let port = 0;
  let counted = { logs: 0, at: Date.now() };

  const run = async () => {
    let pause = FIRST_PAUSE_MS;
    while (!stopping.signal.aborted) {
      const startedAt = Date.now();
      const reason = await runOnce().catch((error: unknown) => String(error));
      if (stopping.signal.aborted) return;
      if (Date.now() - startedAt > GOOD_RUN_MS) pause = FIRST_PAUSE_MS;
      failure = reason;
      onFailure(`${reason}. Starts again in ${pause / 1000} s`);
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => {});
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  };

  const runOnce = async (): Promise<string> => {
    await clearStaleLock(sql, deployment);
    port = await findFreePort();
    counted = { logs: 0, at: Date.now() };
    if (stopping.signal.aborted) return "stopped";
    const { network, chain_id: chainId, schema_name: schemaName } = deployment;
    const ponder = startPonder({ network, chainId, databaseUrl, rpcUrl, schemaName, port, logLevel });
    failure = undefined;
    const stop = () => void ponder.stop();
    stopping.signal.addEventListener("abort", stop, { once: true });
    const reason = await ponder.ended;
    stopping.signal.removeEventListener("abort", stop);
    return reason;
  };

  const finished = run();
  return {
    deployment,
    failure: () => failure,
    readRate: async () => {
      const logs = await readCompletedEvents(port);
      const seconds = (Date.now() - counted.at) / 1000;
      const rate = logs > counted.logs && seconds > 0 ? (logs - counted.logs) / seconds : 0;
      counted = { logs, at: Date.now() };
      return rate;
    },
    stop: async () => {
      stopping.abort();
      await finished;
    },
  };
}

/**
 * Ponder marks its schema as locked and waits 25 s where it finds the mark of a killed one. We hold the network's lock,
 * so once that one's connections are gone the mark means nothing.
 */
async function clearStaleLock(sql: Sql, { schema_name }: Deployment): Promise<void> {
  const [meta] = await sql<{ table: string | null }[]>`
    select to_regclass(${`"${schema_name}"._ponder_meta`})::text as table
  `;
  if (!meta?.table) return;
  for (const deadline = Date.now() + STALE_LOCK_WAIT_MS; Date.now() < deadline; await sleep(200)) {
    const [writers] = await sql<{ count: number }[]>`
      select count(*)::int as count
      from pg_stat_activity
      where application_name in (${`${schema_name}_internal`}, ${`${schema_name}_user`})
    `;
    if (writers?.count) continue;
    await sql`
      update ${sql(`${schema_name}._ponder_meta`)}
      set value = jsonb_set(value, '{is_locked}', to_jsonb(0))
    `;
    return;
  }
}

async function readCompletedEvents(port: number): Promise<number> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(1_000) });
    const counts = (await response.text()).matchAll(/^ponder_indexing_completed_events\{[^}]*\} (\d+)/gm);
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  } catch {
    return 0;
  }
}
