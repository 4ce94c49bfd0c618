import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { RequestState } from "./http/request-state.ts";
import type { Monitor } from "./monitor.ts";
import { WORKER_SECONDS } from "../offchain/token/metadata-status.ts";
import { describeStatus } from "./status.ts";

/** The metrics of this process. `observe` counts a request that was answered. */
export type Metrics = {
  observe: (state: RequestState, method: string) => void;
  /** Prometheus text. */
  render: () => Promise<string>;
  contentType: string;
};

/** Bounds of the duration histogram, in seconds: a single token takes a millisecond, a statement up to five seconds. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counters of this process's requests, and gauges of the networks' and the metadata's state. */
export function createMetrics({ monitor }: { monitor: Monitor }): Metrics {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const registers = [register];

  const duration = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from a request's arrival to its answer",
    labelNames: ["method", "route", "status"],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const bytes = new Counter({
    name: "http_response_body_bytes_total",
    help: "Bytes of bodies sent",
    labelNames: ["route"],
    registers,
  });
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const reachable = gauge("nft_index_database_reachable", "1 while the database answers");
  const perNetwork = {
    head_block: gauge("nft_index_head_block", "Newest block of the chain", ["network"]),
    indexed_block: gauge("nft_index_indexed_block", "Block up to which all logs are indexed", ["network"]),
    finalized_block: gauge("nft_index_finalized_block", "Newest final block", ["network"]),
    lag_seconds: gauge("nft_index_lag_seconds", "Chain time between head and indexed block", ["network"]),
    progress: gauge("nft_index_progress", "Part of the backfill that is done", ["network"]),
    logs_per_second: gauge("nft_index_logs_per_second", "Logs indexed a second", ["network"]),
    skipped_logs: gauge("nft_index_skipped_logs", "Logs left out by the caps", ["network"]),
    reorgs: gauge("nft_index_reorgs", "Reorgs seen since the indexer started", ["network"]),
  };
  const live = gauge("nft_index_live", "1 while the network is followed at its head", ["network"]);
  const metadata = {
    tokens: gauge("nft_index_metadata_tokens", "Tokens known to the metadata queue"),
    fetched: gauge("nft_index_metadata_fetched", "Tokens whose metadata was fetched"),
    waiting: gauge("nft_index_metadata_waiting", "Tokens whose metadata was never tried"),
    failing: gauge("nft_index_metadata_failing", "Tokens whose metadata never came"),
    fetches_per_second: gauge("nft_index_metadata_fetches_per_second", "Fetches of all workers a second"),
    oldest_due_seconds: gauge("nft_index_metadata_oldest_due_seconds", "How long the oldest due token waits"),
    workers: gauge(
      "nft_index_metadata_workers",
      `Workers that have reported within the last ${WORKER_SECONDS} seconds`,
    ),
  };

  const failures = gauge("nft_index_metadata_failures", "Tokens that fail now", ["code", "host"]);

  /** Series by name, because finding a series by its labels took longer than adding to it. */
  const known = new Map<string, { duration: Histogram.Internal<string>; bytes: Counter.Internal }>();

  return {
    observe: ({ route: path, status, startedAt, bytes: sent }, method) => {
      const route = path || "none";
      const name = `${method} ${route} ${status}`;
      let series = known.get(name);
      if (!series) {
        series = { duration: duration.labels(method, route, String(status)), bytes: bytes.labels(route) };
        known.set(name, series);
      }
      series.duration.observe(Math.max(0, performance.now() - startedAt) / 1000);
      series.bytes.inc(sent);
    },
    render: async () => {
      const status = describeStatus(monitor);
      reachable.set(monitor.isReachable() ? 1 : 0);
      // One that is no longer configured would stand there as it was last.
      for (const one of [...Object.values(perNetwork), live]) one.reset();
      for (const [network, values] of Object.entries(status.networks)) {
        for (const name of Object.keys(perNetwork) as (keyof typeof perNetwork)[])
          perNetwork[name].set({ network }, values[name]);
        live.set({ network }, values.state === "live" ? 1 : 0);
      }
      for (const name of Object.keys(metadata) as (keyof typeof metadata)[])
        metadata[name].set(status.metadata[name] ?? 0);
      failures.reset();
      for (const { code, host, tokens } of status.metadata.failures) failures.set({ code, host }, tokens);
      return register.metrics();
    },
    contentType: register.contentType,
  };
}
