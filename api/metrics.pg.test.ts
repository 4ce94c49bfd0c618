import { expect, test } from "vitest";
import { createTestApi } from "../test/api.ts";

test("a network that is no longer configured has no metrics", async () => {
  const t = await createTestApi();
  const networksWith = async (name: string) => {
    await t.api.refresh();
    const text = await (await t.api.app.request("/metrics")).text();
    return [...text.matchAll(new RegExp(`^${name}\\{network="(\\w+)"\\}`, "gm"))].map(([, network]) => network);
  };
  const names = ["nft_index_live", "nft_index_lag_seconds"];
  expect(await Promise.all(names.map(networksWith))).toEqual([
    ["mainnet", "testnet"],
    ["mainnet", "testnet"],
  ]);

  // As an indexer does that starts without it.
  await t.sql`delete from network where name = 'testnet'`;
  expect(await Promise.all(names.map(networksWith))).toEqual([["mainnet"], ["mainnet"]]);
  await t.stop();
});

test("no cache keeps them: Varnish would for two minutes, where nothing is said", async () => {
  const t = await createTestApi();
  const { headers } = await t.api.app.request("/metrics");
  expect(headers.get("cache-control")).toBe("no-store");
  await t.stop();
});

test("workers are counted: without one, nothing is queued that could be late", async () => {
  const t = await createTestApi();
  const countWorkers = async () => {
    await t.api.refresh();
    const text = await (await t.api.app.request("/metrics")).text();
    return /^nft_index_metadata_workers (\d+)$/m.exec(text)?.[1];
  };
  expect(await countWorkers()).toBe("0");
  await t.sql`insert into metadata_worker (worker_id, fetches_per_second, reported_at) values ('one', 0, now())`;
  expect(await countWorkers()).toBe("1");
  await t.stop();
});
