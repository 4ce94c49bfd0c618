import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPool } from "../pool.ts";
import { createMigratedDatabase, type TestDatabase } from "../test/database.ts";
import { makeChain, type Provider, startProvider } from "../test/log-provider.ts";
import { ensureDeployment } from "./deployment.ts";
import { watchFinality } from "./finality.ts";

const EVERY_MS = 20;
const CHAIN = { chainId: 1, genesisHash: "" };

const made = makeChain(Array.from({ length: 50 }, () => []));
const other = makeChain(
  made.map(() => []),
  { name: "other" },
);

let database: TestDatabase;
let sql: Sql;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await createMigratedDatabase();
  sql = createPool(database.url, { max: 2 });
});
afterAll(async () => {
  for (const close of closing) await close();
  await sql.end();
  await database.drop();
});

async function startNode(): Promise<Provider> {
  const node = await startProvider(made);
  closing.push(node.stop);
  return node;
}

/** A deployment whose history ends at block 20. */
async function deploy() {
  const options = { network: "mainnet", chain: CHAIN, fingerprint: "aa", isNewGeneration: false } as const;
  const deployment = await ensureDeployment(sql, options);
  return { ...deployment, history_block: 20, history_hash: made[20]!.hash };
}

test("what nodes of another chain say of a final block is no answer, and they are named", async () => {
  const [deployment, node] = [await deploy(), await startNode()];
  const finality = watchFinality(sql, { rpcUrls: [node.url], chain: CHAIN, everyMs: EVERY_MS });
  const look = () => finality.isGone(deployment, undefined);
  const lookFor = async (problem: string | undefined) => {
    await expect.poll(() => (look(), finality.problem())).toBe(problem);
    for (node.calls.eth_chainId = 0; node.calls.eth_chainId < 5; await sleep(5)) expect(look()).toBe(false);
  };
  await lookFor(undefined);
  node.set({ chainId: 2 });
  node.setChain(other);
  await lookFor(`${new URL(node.url).host} answers for chain 2. Expected 1`);

  // As it was, and then of this chain with other blocks.
  node.setChain(made);
  node.set({});
  await lookFor(undefined);
  node.setChain(other);
  await expect.poll(look).toBe(true);
});
