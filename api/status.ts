import { z } from "@hono/zod-openapi";
import type { Monitor } from "./monitor.ts";
import type { NetworkRow } from "./network.ts";

const NetworkStatus = z
  .strictObject({
    chain_id: z.int(),
    state: z.enum(["backfill", "live", "stalled"]),
    reason: z.string().optional().openapi({ description: "Why it is stalled." }),
    head_block: z.int(),
    indexed_block: z.int().openapi({ description: "Every log up to it is in the answers." }),
    finalized_block: z.int(),
    lag_seconds: z.number(),
    progress: z.number(),
    logs_per_second: z.number(),
    eta_seconds: z.number().nullable(),
    skipped_logs: z.int(),
    reorgs: z.int().openapi({
      description:
        "Extension: how often a block that was the head is no longer on the chain, since the indexer started.",
    }),
  })
  .openapi("NetworkStatus");
type NetworkStatus = z.infer<typeof NetworkStatus>;

export const Status = z
  .strictObject({
    networks: z.strictObject({ mainnet: NetworkStatus.optional(), testnet: NetworkStatus.optional() }),
    metadata: z.strictObject({
      tokens: z.int(),
      fetched: z.int(),
      waiting: z.int(),
      failing: z.int(),
      fetches_per_second: z.number(),
      oldest_due_seconds: z.number().nullable(),
      failures: z
        .array(z.strictObject({ code: z.string(), host: z.string(), tokens: z.int() }))
        .openapi({ description: "Extension: tokens that fail now, by reason and host, the most first." }),
      workers: z.int().openapi({ description: "Extension: workers that have reported lately." }),
    }),
  })
  .openapi("Status");
export type Status = z.infer<typeof Status>;

/** The indexer reports each second: after this it is taken for gone, in seconds. */
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
