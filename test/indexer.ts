import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { withConnection } from "../postgres/pool.ts";
import { isMissingTable, type NetworkReport } from "../offchain/network.ts";
import { type Command, type Env, startCommand } from "./command.ts";

/** Of what an indexer reports once a second. */
const POLL_MS = 200;
/** Ends what hangs. What is waited for is a fact, not a time: it takes seconds, and on a busy machine minutes. */
export const WAIT_TIMEOUT_MS = 600_000;

/** An indexer that runs as a process of its own. */
export type Indexer = Command & {
  /** Waits until the network's report satisfies `until`. @throws Error with the report and the output when it doesn't */
  waitUntil: (until: (status: NetworkReport) => boolean, options?: { network?: string }) => Promise<NetworkReport>;
  /** Waits until every log up to `block` is in the tables that readers see, and the network is live. */
  waitUntilLive: (block: number, options?: { network?: string }) => Promise<NetworkReport>;
};

/** Starts `bin/indexer.ts` on a database and a chain. */
export function startIndexer({
  databaseUrl,
  rpcUrl,
  env = {},
  root,
}: {
  databaseUrl: string;
  rpcUrl: string;
  env?: Env;
  root?: string;
}): Indexer {
  const startedAt = new Date();
  const command = startCommand("indexer", {
    env: { DATABASE_URL: databaseUrl, MAINNET_RPC_URL: rpcUrl, ...env },
    ...(root !== undefined && { root }),
  });
  let hasEnded = false;
  void command.ended.then(() => (hasEnded = true));

  // One connection for all the times that it is asked: to connect costs more than to ask.
  const waitUntil: Indexer["waitUntil"] = (until, { network = "mainnet" } = {}) =>
    withConnection(databaseUrl, async (sql) => {
      let status: NetworkReport | undefined;
      for (const deadline = Date.now() + WAIT_TIMEOUT_MS; Date.now() < deadline; await sleep(POLL_MS)) {
        // What a process before this one reported is of no account.
        status = await readStatus(sql, { network, since: startedAt });
        if (status && until(status)) return status;
        if (hasEnded) break;
      }
      const problem = hasEnded ? "ended" : "did not get there in time";
      throw new Error(
        `The indexer ${problem}. Last report: ${JSON.stringify(status)}. It printed:\n${command.output()}`,
      );
    });
  return {
    ...command,
    waitUntil,
    waitUntilLive: (block, options) =>
      waitUntil(({ state, indexed_block }) => state === "live" && indexed_block >= block, options),
  };
}

/** What the indexer last reported of a network, undefined before it did. */
async function readStatus(
  sql: Sql,
  { network, since }: { network: string; since: Date },
): Promise<NetworkReport | undefined> {
  try {
    const [row] = await sql<NetworkReport[]>`
      select
        name,
        chain_id::float8,
        state,
        reason,
        head_block::float8,
        indexed_block::float8,
        finalized_block::float8,
        head_timestamp::float8,
        indexed_timestamp::float8,
        progress,
        logs_per_second,
        eta_seconds,
        skipped_logs::float8,
        reorgs::float8
      from offchain.network
      where name = ${network}
        and reported_at > ${since}
    `;
    return row;
  } catch (error) {
    if (isMissingTable(error)) return undefined;
    throw error;
  }
}
