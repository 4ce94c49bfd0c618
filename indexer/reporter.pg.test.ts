import type { PublicClient } from "viem";
import { afterAll, expect, test, vi } from "vitest";
import { readConfig } from "../config.ts";
import { createReadableDatabase, useDatabase } from "../test/database.ts";
import type { Deployment } from "./deployment.ts";
import type { DeploymentRunner } from "./deployment-runner.ts";
import { createReporter } from "./reporter.ts";

const { sql } = await useDatabase(createReadableDatabase, { max: 1 });

afterAll(async () => {
  vi.useRealTimers();
});

/** A report of an index that is under way, as often as it is asked for, and the lines that it prints. */
function startReports() {
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
  let failure: string | undefined;
  const lines: string[] = [];
  const runner = {
    failure: () => failure,
    problem: () => undefined,
    isRunning: () => true,
    history: () => undefined,
    readRate: () => Promise.resolve(0),
  } as unknown as DeploymentRunner;
  const head = { block: 100, timestamp: 1_700_000_000, isKnown: true, reorgs: 0, error: undefined, answeredAt: 0 };
  const report = createReporter(sql, {
    network: "mainnet",
    chain: { chainId: 1, genesisHash: "0x01" },
    config: readConfig({ MAINNET_RPC_URL: "http://127.0.0.1:9" }),
    client: { getBlock: () => new Promise(() => {}) } as unknown as PublicClient,
    head,
    runners: new Map([["onchain_mainnet", runner]]),
    fingerprint: "abc",
    log: (_, line) => lines.push(line),
  });
  const newest = { schema_name: "onchain_mainnet", fingerprint: "abc", published_at: null } as Deployment;
  const stateAfter = async (seconds: number, indexedBlock: number) => {
    vi.advanceTimersByTime(seconds * 1000);
    const newestPosition = { indexedBlock, indexedTimestamp: 1_700_000_000, finalizedBlock: 40, isReady: false };
    await report({ newest, visible: newest, newestPosition });
    const [row] = await sql<{ state: string; reason: string | null }[]>`select state, reason from offchain.network`;
    return row!.reason ?? row!.state;
  };
  const fail = (reason: string | undefined) => {
    failure = reason;
  };
  return { stateAfter, fail, lines };
}

test("what ends it again and again stays the reason until it is further than before", async () => {
  const { stateAfter, fail } = startReports();
  expect(await stateAfter(1, 50)).toBe("backfill");
  fail("no space left");
  expect(await stateAfter(1, 50)).toBe("no space left");
  fail(undefined);
  expect(await stateAfter(1, 40)).toBe("backfill");
  expect(await stateAfter(90, 50)).toBe("no space left");
  expect(await stateAfter(1, 51)).toBe("backfill");
  expect(await stateAfter(90, 51)).toBe("backfill");
  // A clock that is set back.
  vi.setSystemTime(Date.now() - 3_600_000);
  await stateAfter(1, 52);
  expect(await sql`select indexed_block::int from offchain.network`).toEqual([{ indexed_block: 52 }]);
});

test("a reason that lasts is told once a minute, another one within seconds", async () => {
  const { stateAfter, fail, lines } = startReports();
  const linesOf = async (seconds: number) => {
    lines.length = 0;
    for (let passed = 0; passed < seconds; passed++) await stateAfter(1, 50);
    return lines.length;
  };
  fail("no space left");
  expect(await linesOf(50)).toBe(1);
  fail("too many connections");
  expect(await linesOf(6)).toBe(1);
  expect(lines[0]).toContain("too many connections");
  expect(await linesOf(181)).toBe(3);
});
