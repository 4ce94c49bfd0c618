/** The HTTP API alone: reads what indexer and worker write to DATABASE_URL. Any number of these can run. */
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabases } from "../api/sql/database.ts";
import { within } from "../api/sql/deadline.ts";
import { listen } from "../api/listen.ts";
import { createLog, describeError } from "../api/log.ts";
import { createApi } from "../api/server.ts";
import { readConfigOrExit } from "../environment.ts";
import { migrate } from "../offchain/migrate.ts";
import { createExplorer } from "../web/explorer.ts";
import { withConnection } from "../postgres/pool.ts";
import { exitOnOtherChain } from "./chain-check.ts";
import { databaseUrlOrExit, findOldReplica, requireDatabase } from "./database-check.ts";
import { listenProblem } from "./port.ts";
import { exit, outliveReader, takeNoArguments } from "./process.ts";
import { retry } from "./retry.ts";

/** Longer than a connection takes. A replica that is gone without a word would else be waited for, though another came. */
const REPLICA_TELLS_WITHIN_MS = 15_000;
/**
 * How long a start waits for the database before it listens. A proxy that doesn't ask /ready, as nginx, sends requests from
 * then on, and they would be told 503 for as long as the first look takes: half a second on a busy machine.
 */
const LISTEN_WITHIN_MS = 3000;

// Whoever started us with a channel may be gone before there is anything to end in order.
const quit = () => process.exit(0);
process.once("disconnect", quit);
takeNoArguments();
outliveReader();
const config = readConfigOrExit();
const url = databaseUrlOrExit(config);
const log = createLog({ level: config.logLevel });
process.on("unhandledRejection", (error) => log("error", "unhandled rejection", describeError(error)));

const databases = openDatabases({ url, readUrl: config.databaseReadUrl ?? url });
const ending = new AbortController();
// The first process that reaches the database makes the tables. Until then requests are told 503, and so they are while an
// upgrade changes them. Where that is refused, what can be answered is.
let isUpgrading = true;
const primaryUsable = untilUsable(async () => {
  try {
    const primary = await requireDatabase(config);
    isUpgrading = true;
    await withConnection(primary, migrate);
  } finally {
    // Also where the primary can't be reached: a replica may answer.
    isUpgrading = false;
  }
});
// A replica has what an upgrade changes later than its primary. One that doesn't tell answers what it can.
let isReplicaOld = true;
const replicaUsable = untilUsable(async () => {
  let old: string | undefined;
  try {
    old = await within(REPLICA_TELLS_WITHIN_MS, findOldReplica(config));
  } finally {
    isReplicaOld = old !== undefined;
  }
  if (old !== undefined)
    throw new Error(
      `${old} has the tables of an older version. Expected those of this one, which a replica gets by itself.`,
    );
});
void exitOnOtherChain(config);
const api = await createApi({
  config,
  databases,
  log,
  createPages: createExplorer,
  isUpgrading: () => isUpgrading || isReplicaOld,
});
await Promise.race([Promise.all([primaryUsable, replicaUsable]), sleep(LISTEN_WITHIN_MS)]);
const listener = await listen(api, config).catch((error: Error) => exit(listenProblem(error, config)));
log("info", "listening", { url: listener.url });
process.send?.({ type: "listening", url: listener.url });

// Each may come twice, through the process group and through npm.
process.on("SIGTERM", () => void end("SIGTERM"));
process.on("SIGINT", () => void end("SIGINT"));
process.on("SIGHUP", () => void end("SIGHUP"));
// Whoever started us with a channel is gone when it closes.
process.off("disconnect", quit);
process.once("disconnect", () => void end("disconnect"));
process.channel?.unref();

async function end(reason: string): Promise<void> {
  if (ending.signal.aborted) return;
  ending.abort();
  log("info", "ending", { reason });
  await listener.close();
  await api.stop();
  await databases.end();
  process.exit(0);
}

/** Tries until it works. */
function untilUsable(task: () => Promise<unknown>): Promise<void> {
  const onFailure = (error: string) => log("warn", "the database can't be used yet", { error });
  return retry(task, { signal: ending.signal, onFailure });
}
