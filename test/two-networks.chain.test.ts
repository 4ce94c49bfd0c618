import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFreePort } from "../indexer/free-port.ts";
import { type Contract, startChain, type TestChain } from "./chain.ts";
import { startCommand } from "./command.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { type Indexer, startIndexer } from "./indexer.ts";
import { computeExpected } from "./log-oracle.ts";
import { readTables } from "./onchain-tables.ts";
import { createRandom, randomLogs } from "./random-logs.ts";
import { type RpcProxy, startRpcProxy } from "./rpc-proxy.ts";
import { compile } from "./solidity.ts";

const TESTNET = { network: "testnet" };

let chains: TestChain[];
let emitters: Contract[];
let proxy: RpcProxy;
let database: TestDatabase;
let indexer: Indexer;
let env: Record<string, string>;
const random = createRandom(11);

beforeAll(async () => {
  // The same accounts, and so the same contract addresses, on both.
  chains = await Promise.all([startChain({ chainId: 501 }), startChain({ chainId: 502 })]);
  proxy = await startRpcProxy(chains[1]!.rpcUrl);
  database = await createTestDatabase();
  const { Emitter } = compile("Emitter");
  emitters = await Promise.all(chains.map((chain) => chain.deploy(Emitter)));
  for (const place of [0, 1]) await mineRandom(place, 6);
  await chains[0]!.mineEmpty(40);
  env = { TESTNET_RPC_URL: `http://127.0.0.1:${await findFreePort()},${proxy.url}`, TESTNET_CHAIN_ID: "502" };
  indexer = start();
});

afterAll(async () => {
  await indexer?.stop();
  await proxy?.stop();
  await Promise.all([...chains.map(({ stop }) => stop()), database?.drop()]);
});

const start = () => startIndexer({ databaseUrl: database.url, rpcUrl: chains[0]!.rpcUrl, env });

async function mineRandom(place: number, blocks: number): Promise<void> {
  const chain = chains[place]!;
  for (let block = 0; block < blocks; block++) {
    const logs = randomLogs(random, { accounts: chain.accounts, count: 8 });
    await chain.mine({ to: emitters[place]!, name: "write", args: [logs] });
  }
}

test("two networks in one indexer have their own rows each", async () => {
  await indexer.waitUntilLive(await chains[0]!.head());
  await indexer.waitUntilLive(await chains[1]!.head(), TESTNET);
  for (const place of [0, 1]) await mineRandom(place, 2);
  const statuses = [
    await indexer.waitUntilLive(await chains[0]!.head()),
    await indexer.waitUntilLive(await chains[1]!.head(), TESTNET),
  ];
  expect(statuses.map(({ chain_id }) => chain_id)).toEqual([501, 502]);
  expect(emitters[0]!.address).toBe(emitters[1]!.address);
  expect(await readTables(database.url)).toEqual(await computeExpected(chains[0]!));
  expect(await readTables(database.url, TESTNET)).toEqual(await computeExpected(chains[1]!));
});

test("a node that goes away stalls its network, says why, and is live again when it comes back", async () => {
  proxy.set({ isDown: true });
  const stalled = await indexer.waitUntil(({ state }) => state === "stalled", TESTNET);
  expect(stalled.reason).toMatch(/^RPC doesn't answer: \S/);
  // It isn't stalled before ten seconds.
  expect(stalled.head_timestamp).toBeGreaterThanOrEqual(stalled.indexed_timestamp + 10);
  // The other one goes on.
  await mineRandom(0, 1);
  await indexer.waitUntilLive(await chains[0]!.head());
  await mineRandom(1, 2);
  proxy.set({ isDown: false });
  const status = await indexer.waitUntilLive(await chains[1]!.head(), TESTNET);
  expect(status).toMatchObject({ reason: null, head_timestamp: status.indexed_timestamp });
  expect(await readTables(database.url, TESTNET)).toEqual(await computeExpected(chains[1]!));
});

test("a network whose nodes don't answer at the start holds up no other, and is followed once one does", async () => {
  await indexer.stop();
  proxy.set({ isDown: true });
  for (const place of [0, 1]) await mineRandom(place, 2);
  indexer = start();
  await indexer.waitUntilLive(await chains[0]!.head());
  expect(await readTables(database.url)).toEqual(await computeExpected(chains[0]!));
  const { reason } = await indexer.waitUntil(({ state }) => state === "stalled", TESTNET);
  expect(reason).toMatch(/^RPC doesn't answer: \S/);
  expect(indexer.output()).toMatch(/^TESTNET_RPC_URL is unreachable .* It is waited for, as TESTNET_CHAIN_ID is set$/m);
  proxy.set({ isDown: false });
  await indexer.waitUntilLive(await chains[1]!.head(), TESTNET);
  expect(await readTables(database.url, TESTNET)).toEqual(await computeExpected(chains[1]!));
});

test("a rebuild that knows no node has both built anew by the indexer", async () => {
  const command = startCommand("rebuild", { env: { DATABASE_URL: database.url } });
  expect(await command.ended, command.output()).toBe(0);
  for (const network of ["mainnet", "testnet"])
    expect(command.output()).toMatch(new RegExp(`^${network}  rebuilt: readers see onchain_${network}_`, "m"));
  for (const place of [0, 1])
    expect(await readTables(database.url, place ? TESTNET : {})).toEqual(await computeExpected(chains[place]!));
});

describe.concurrent("what can't be used ends the process with one line and code 1", () => {
  const end = async (env: Record<string, string>) => {
    const command = startCommand("indexer", { env: { DATABASE_URL: database.url, ...env } });
    const code = await command.ended;
    return { code, output: command.output() };
  };

  test("a chain id that is another's", async ({ expect }) => {
    const { code, output } = await end({ MAINNET_RPC_URL: chains[0]!.rpcUrl, MAINNET_CHAIN_ID: "1" });
    expect(code).toBe(1);
    expect(output).toMatch(
      /^MAINNET_CHAIN_ID is 1, but MAINNET_RPC_URL 127\.0\.0\.1:\d+ answers for chain 501\. Expected the same\.\n$/,
    );
  });

  test("nodes of two chains for one network", async ({ expect }) => {
    const { code, output } = await end({ MAINNET_RPC_URL: chains.map(({ rpcUrl }) => rpcUrl).join(",") });
    expect(code).toBe(1);
    expect(output).toMatch(/^MAINNET_RPC_URL names two chains: \S+ is 501, \S+ is 502\. Expected one\.\n$/);
  });

  test("one chain for both networks", async ({ expect }) => {
    const url = chains[0]!.rpcUrl;
    const { code, output } = await end({ MAINNET_RPC_URL: url, TESTNET_RPC_URL: url });
    expect(code).toBe(1);
    expect(output).toBe("TESTNET_RPC_URL answers for chain 501, as the main network does. Expected another.\n");
  });

  test("a test network without a main one, where no demo stands in", async ({ expect }) => {
    const { code, output } = await end({ TESTNET_RPC_URL: chains[0]!.rpcUrl });
    expect(code).toBe(1);
    expect(output).toBe("MAINNET_RPC_URL is not set. Expected http or https URLs, comma-separated.\n");
  });

  test("a node that nobody answers for", async ({ expect }) => {
    const { code, output } = await end({ MAINNET_RPC_URL: `http://127.0.0.1:${await findFreePort()}/secret-key` });
    expect(code).toBe(1);
    expect(output).toMatch(
      /^MAINNET_RPC_URL is unreachable \(127\.0\.0\.1:\d+: .+\)\. Expected a JSON-RPC node that answers\.\n$/,
    );
    expect(output).not.toContain("secret-key");
  });

  test("a database that nobody answers for", async ({ expect }) => {
    const url = `postgres://me:secret@127.0.0.1:${await findFreePort()}/x`;
    const { code, output } = await end({ MAINNET_RPC_URL: chains[0]!.rpcUrl, DATABASE_URL: url });
    expect(code).toBe(1);
    expect(output).toMatch(
      /^DATABASE_URL 127\.0\.0\.1:\d+\/x is unreachable \(.+\)\. Expected a Postgres that answers\.\n$/,
    );
  });

  test("an option of a rebuild that there isn't", async ({ expect }) => {
    const command = startCommand("rebuild", { env: { DATABASE_URL: database.url }, args: ["--all"] });
    expect(await command.ended).toBe(1);
    expect(command.output()).toMatch(/^Unknown option '--all'.* Expected nothing or --refetch\.\n$/);
  });

  test("a variable", async ({ expect }) => {
    const { code, output } = await end({ MAINNET_RPC_URL: chains[0]!.rpcUrl, MAINNET_START_BLOCK: "first" });
    expect(code).toBe(1);
    expect(output).toBe('MAINNET_START_BLOCK is "first". Expected a whole number from 0 to 9007199254740991.\n');
  });
});
