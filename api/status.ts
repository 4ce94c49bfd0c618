import { z } from "@hono/zod-openapi";
import { SILENCE_SECONDS } from "../offchain/network.ts";
import { WORKER_SECONDS } from "../offchain/token/metadata-status.ts";
import { integer, list, number, oneOf, text } from "./http/field.ts";
import type { Monitor } from "./monitor.ts";
import type { NetworkRow } from "./network.ts";

const NetworkStatus = z
  .strictObject({
    // Above 32 bits, which generated clients of many languages would give it, are the ids of Palm and others.
    chain_id: integer("The chain's own id.").openapi({ format: "int64" }),
    state: oneOf({
      backfill: "history is being indexed, or indexed anew",
      live: "new blocks are indexed as they come",
      stalled: "nothing is being indexed, and `reason` says why",
    }),
    reason: text("Why it is stalled; absent otherwise.").optional(),
    head_block: integer("The chain's last block, as its nodes say."),
    indexed_block: integer("The last block whose logs are in the answers; 0 before the first one."),
    finalized_block: integer("The last indexed block that counts as final; 0 before the first one."),
    lag_seconds: number(
      "Seconds between the last indexed block and the head, by their times, and those since the indexer or its nodes were " +
        "last heard of where they are silent.",
    ),
    progress: number(
      "Share of the blocks that is indexed, from 0 to 1; 1 only when all are. A rebuild begins at 0 again.",
    ),
    logs_per_second: number("Logs indexed a second, lately."),
    eta_seconds: number(
      "Estimated seconds until it is live; null where it is live, or where there is no estimate.",
    ).nullable(),
    skipped_logs: integer("Logs that were left out because they claim too much or contradict themselves."),
    reorgs: integer(
      "Extension: how often a block that was the head is no longer on the chain, since the indexer started.",
    ),
  })
  .openapi("NetworkStatus", { description: "How far a network is indexed." });
type NetworkStatus = z.infer<typeof NetworkStatus>;

/** What `/status` answers. */
export const Status = z
  .strictObject({
    networks: z
      .strictObject({ mainnet: NetworkStatus.optional(), testnet: NetworkStatus.optional() })
      .openapi({ description: "The networks that the indexer has reported; `testnet` only where it is configured." }),
    metadata: z
      .strictObject({
        tokens: integer("Tokens that the worker knows, of both networks."),
        fetched: integer("Tokens that have a document."),
        waiting: integer("Tokens without a document that were not tried yet."),
        failing: integer("Tokens without a document that were tried."),
        fetches_per_second: number("Fetches a second, lately, of all workers."),
        oldest_due_seconds: number(
          "How long the token that is due for the longest time has waited; null where none is due.",
        ).nullable(),
        failures: list(
          z.strictObject({
            code: text("The reason: `http_404`, `timeout`, `dns`, `no_uri`, `bad_json` and the like."),
            host: text("Host and port of the origin; empty where none is involved."),
            tokens: integer("Tokens that fail for this reason."),
          }),
          "Extension: tokens whose last attempt failed, by reason and host, also those that keep an earlier document. The " +
            "most frequent first; at most 50.",
        ),
        workers: integer(`Extension: workers that have reported within the last ${WORKER_SECONDS} seconds.`),
      })
      .openapi({ description: "How far metadata is fetched." }),
  })
  .openapi("Status", { description: "The state of this service." });
export type Status = z.infer<typeof Status>;

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
  const reason = isSilent
    ? describeSilence(row, { isReachable })
    : (row.reason ?? (row.state === "stalled" ? "The indexer does not say why." : undefined));
  return {
    chain_id: row.chain_id,
    state: isSilent ? "stalled" : row.state,
    ...(reason === undefined ? {} : { reason }),
    head_block: row.head_block,
    indexed_block: row.indexed_block,
    finalized_block: row.finalized_block,
    lag_seconds:
      Math.max(0, row.head_timestamp - row.indexed_timestamp) + (isSilent ? Math.round(row.silent_seconds) : 0),
    progress: row.progress,
    // As it was last reported, it would go on for ever.
    logs_per_second: isSilent ? 0 : row.logs_per_second,
    eta_seconds: isSilent ? null : row.eta_seconds,
    skipped_logs: row.skipped_logs,
    reorgs: row.reorgs,
  };
}

function describeSilence(
  { silent_seconds, is_replica }: NetworkRow,
  { isReachable }: { isReachable: boolean },
): string {
  if (!isReachable) return "The database is unreachable.";
  const seconds = `${Math.round(silent_seconds)} seconds`;
  // A report that hasn't come that far looks like one that was never made.
  if (is_replica)
    return `The replica of the database is ${seconds} behind, or the indexer has not reported for so long.`;
  return `The indexer has not reported for ${seconds}.`;
}
