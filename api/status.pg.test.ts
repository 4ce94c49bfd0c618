import { expect, test } from "vitest";
import { createTestApi } from "../test/api.ts";
import { startMonitor } from "./monitor.ts";
import { describeStatus } from "./status.ts";

test("who is gone is told so, also where the database's clock was set back since", async () => {
  const t = await createTestApi({ networks: ["mainnet"] });
  const read = async () => {
    await t.api.refresh();
    const { networks, metadata } = (await (await t.api.app.request("/status")).json()) as {
      networks: {
        mainnet: {
          state: string;
          reason?: string;
          lag_seconds: number;
          logs_per_second: number;
          eta_seconds: number | null;
        };
      };
      metadata: { workers: number; fetches_per_second: number };
    };
    const { state, reason, lag_seconds, logs_per_second, eta_seconds } = networks.mainnet;
    expect(lag_seconds, "in whole seconds").toBe(Math.floor(lag_seconds));
    return [state, reason, logs_per_second, eta_seconds, metadata.workers, metadata.fetches_per_second];
  };
  await t.sql`update network set state = 'backfill', logs_per_second = 7, eta_seconds = 40, reported_at = now()`;
  await t.sql`insert into metadata_worker (worker_id, fetches_per_second, reported_at) values ('1', 5, now())`;
  expect(await read()).toEqual(["backfill", undefined, 7, 40, 1, 5]);

  await t.sql`update network set reported_at = now() + interval '5 hours'`;
  await t.sql`update metadata_worker set reported_at = now() + interval '5 hours'`;
  expect(await read()).toEqual([
    "stalled",
    expect.stringMatching(/^The indexer has not reported for \d+ seconds\.$/),
    0,
    null,
    0,
    0,
  ]);
  await t.stop();
});

test("a replica that lags is not taken for an indexer that is gone", async () => {
  const t = await createTestApi({ networks: ["mainnet"] });
  await t.sql`update network set state = 'live', reported_at = now() - interval '1 minute'`;
  const monitor = await startMonitor({ sql: t.sql, log: () => {} });
  const replica = { ...monitor, networks: () => monitor.networks().map((row) => ({ ...row, is_replica: true })) };
  const reasons = [monitor, replica].map((of) => describeStatus(of).networks.mainnet?.reason);
  expect(reasons).toEqual([
    expect.stringMatching(/^The indexer has not reported for \d+ seconds\.$/),
    expect.stringMatching(/^The replica of the database is \d+ seconds behind, or the indexer /),
  ]);
  monitor.stop();
  await t.stop();
});
