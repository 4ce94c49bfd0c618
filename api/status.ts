import { z } from "@hono/zod-openapi";
import { integer, list, number, oneOf, text } from "./http/field.ts";
import type { Monitor } from "./monitor.ts";
import type { NetworkRow } from "./network.ts";

const NetworkStatus = z
  .strictObject({
    chain_id: integer("The chain's own id."),
    state: oneOf({
      backfill: "the chain's past is indexed, or indexed anew",
      live: "the head is followed",
      stalled: "nothing goes on, and `reason` says why",
    }),
    reason: text("Why it is stalled; absent otherwise.").optional(),
    head_block: integer("The chain's last block, as its nodes say."),
    indexed_block: integer("Every log up to it is in the answers; 0 until any is."),
    finalized_block: integer("Indexed blocks up to it are taken for final; 0 until any is."),
    lag_seconds: number(
      "Seconds between the last indexed block and the head, by their times, and those since the indexer was last heard of " +
        "where it is silent.",
    ),
    progress: number("Part of the blocks that is indexed, 0 to 1; below 1 until all are. A rebuild begins at 0 again."),
    logs_per_second: number("Logs indexed a second of late."),
    eta_seconds: number("Seconds until it is live; null where it is, or nobody can say.").nullable(),
    skipped_logs: integer("Logs that were left out because they claim too much or contradict themselves."),
    reorgs: integer(
      "Extension: how often a block that was the head is no longer on the chain, since the indexer started.",
    ),
  })
  .openapi("NetworkStatus", { description: "How far one network is indexed." });
type NetworkStatus = z.infer<typeof NetworkStatus>;

export const Status = z
  .strictObject({
    networks: z
      .strictObject({ mainnet: NetworkStatus.optional(), testnet: NetworkStatus.optional() })
      .openapi({ description: "Those that the indexer has reported of; `testnet` is there where it is configured." }),
    metadata: z
      .strictObject({
        tokens: integer("Tokens that the worker knows, of both networks."),
        fetched: integer("Those that have a document."),
        waiting: integer("Those that have none and were not tried yet."),
        failing: integer("Those that were tried and have none yet."),
        fetches_per_second: number("Fetches a second of late, of all workers."),
        oldest_due_seconds: number(
          "How long the token waits that is due for longest; null where none is due.",
        ).nullable(),
        failures: list(
          z.strictObject({
            code: text("Why, in a word: `http_404`, `timeout`, `dns`, `no_uri`, `bad_json` and the like."),
            host: text("Host and port of the origin that it is about; empty where none is involved."),
            tokens: integer("How many tokens fail so."),
          }),
          "Extension: tokens whose last attempt failed, also where they have a document of before, by reason and host, the " +
            "most first; at most 50.",
        ),
        workers: integer("Extension: workers that have reported within the last 20 seconds."),
      })
      .openapi({ description: "How the fetching of metadata goes." }),
  })
  .openapi("Status", { description: "What this service knows of its own state." });
export type Status = z.infer<typeof Status>;

/** After so many seconds without a report the indexer counts as gone. It reports every second. */
const SILENCE_SECONDS = 15;

/** /status as this process knows it. */
export function describeStatus(monitor: Monitor): Status {
  return {
    networks: Object.fromEntries(
      monitor.networks().map((row) => [row.name, describeNetwork(row, { isReachable: monitor.isReachable() })]),
    ),
    metadata: monitor.metadata(),
  };
}

function describeNetwork(row: NetworkRow, { isReachable }: { isReachable: boolean }): NetworkStatus {
  const isSilent = !isReachable || row.silent_seconds > SILENCE_SECONDS;
  const silence = isReachable
    ? `The indexer has not reported for ${Math.round(row.silent_seconds)} seconds.`
    : "The database is unreachable.";
  const reason = isSilent
    ? silence
    : (row.reason ?? (row.state === "stalled" ? "The indexer does not say why." : undefined));
  return {
    chain_id: row.chain_id,
    state: isSilent ? "stalled" : row.state,
    ...(reason === undefined ? {} : { reason }),
    head_block: row.head_block,
    indexed_block: row.indexed_block,
    finalized_block: row.finalized_block,
    lag_seconds: Math.max(0, row.head_timestamp - row.indexed_timestamp) + (isSilent ? row.silent_seconds : 0),
    progress: row.progress,
    logs_per_second: row.logs_per_second,
    eta_seconds: row.eta_seconds,
    skipped_logs: row.skipped_logs,
    reorgs: row.reorgs,
  };
}
