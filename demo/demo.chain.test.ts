import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createPublicClient,
  createWalletClient,
  http,
  parseAbi,
  parseEther,
  parseEventLogs,
  type PublicClient,
  zeroAddress,
} from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FROM_BUNDLE } from "../indexer/child-process.ts";
import { erc1155Abi } from "../abis/erc1155.ts";
import { erc2309Abi } from "../abis/erc2309.ts";
import { erc721Abi } from "../abis/erc721.ts";
import { findFreePort } from "../indexer/free-port.ts";
import { type DemoChain, startDemoChain } from "./chain.ts";
import { MULTICALL3_ADDRESS } from "../abis/multicall3.ts";
import { SEAPORT_ADDRESS } from "./exchange.ts";
import type { DemoReady } from "./main.ts";
import { createMiner } from "./miner.ts";

let chain: DemoChain;
let client: PublicClient;
beforeAll(async () => {
  chain = await startDemoChain();
  client = createPublicClient({ transport: http(chain.rpcUrl) });
});
afterAll(() => chain?.stop());

describe("the history", () => {
  test("has six NFT contracts, 300 tokens, several owners, and the moves of every kind", async () => {
    const logs = await client.getLogs({ fromBlock: 0n });
    const transfers = parseEventLogs({ abi: erc721Abi, logs });
    const consecutive = parseEventLogs({ abi: erc2309Abi, logs });
    const singles = parseEventLogs({ abi: erc1155Abi, eventName: "TransferSingle", logs });
    const batches = parseEventLogs({ abi: erc1155Abi, eventName: "TransferBatch", logs });

    const tokens = new Set(transfers.map((log) => `${log.address} ${log.args.tokenId}`));
    for (const { address, args } of consecutive)
      for (let id = args.fromTokenId; id <= args.toTokenId; id += 1n) tokens.add(`${address} ${id}`);
    const balances = new Map<string, bigint>();
    const move = (token: string, from: string, to: string, units: bigint) => {
      tokens.add(token);
      balances.set(`${token} ${from}`, (balances.get(`${token} ${from}`) ?? 0n) - units);
      balances.set(`${token} ${to}`, (balances.get(`${token} ${to}`) ?? 0n) + units);
    };
    for (const { address, args } of singles) move(`${address} ${args.id}`, args.from, args.to, args.value);
    for (const { address, args } of batches)
      for (const [i, id] of args.ids.entries()) move(`${address} ${id}`, args.from, args.to, args.values[i] ?? 0n);
    const unitsOf = (address: string) => [...balances].filter(([key]) => key.startsWith(address));
    const holdersOf = (token: string) =>
      unitsOf(token).filter(([key, units]) => units > 0n && !key.endsWith(zeroAddress) && key.startsWith(`${token} `));

    expect(new Set([...tokens].map((token) => token.split(" ")[0])).size).toBe(7);
    expect(tokens.size).toBeGreaterThanOrEqual(300);
    expect(new Set(transfers.map((log) => log.args.to)).size).toBeGreaterThanOrEqual(12);
    expect(consecutive).toHaveLength(1);
    expect(consecutive[0]?.args).toMatchObject({ fromTokenId: 0n, toTokenId: 119n, fromAddress: zeroAddress });
    for (const id of [0n, 3n, 7n])
      expect(holdersOf(`${chain.contracts.HarborProvisions} ${id}`).length).toBeGreaterThanOrEqual(3);

    const burns = transfers.filter((log) => log.args.to === zeroAddress);
    const mints = transfers.filter((log) => log.args.from === zeroAddress);
    expect(burns.length).toBeGreaterThanOrEqual(5);
    expect(burns.some((burn) => mints.some((mint) => mint.transactionHash === burn.transactionHash))).toBe(true);
    expect(transfers.some((log) => log.args.from === log.args.to)).toBe(true);
    expect(transfers.some((log) => log.args.tokenId === 2n ** 256n - 1n)).toBe(true);
    expect(singles.some((log) => log.args.value === 0n)).toBe(true);
    expect(singles.some((log) => log.args.to === zeroAddress)).toBe(true);
    expect(batches.some((log) => log.args.from !== zeroAddress && log.args.to !== zeroAddress)).toBe(true);
    expect(batches.some((log) => new Set(log.args.ids).size < log.args.ids.length)).toBe(true);
  });

  test("reaches days back, is in order, and every block of it can be read", async () => {
    const head = await client.getBlock();
    const first = await client.getBlock({ blockNumber: 1n });
    const days = Number(head.timestamp - first.timestamp) / 86_400;
    expect(days).toBeGreaterThan(4);
    expect(Number(head.timestamp) * 1000).toBeLessThanOrEqual(Date.now());
    let last = -1n;
    for (let number = 0n; number <= head.number; number += 1n) {
      const { timestamp } = await client.getBlock({ blockNumber: number });
      expect(timestamp).toBeGreaterThan(last);
      last = timestamp;
    }
  });

  test("has the ERC-20 whose transfers must not count", async () => {
    const logs = await client.getLogs({ address: chain.contracts.Driftwood, fromBlock: 0n });
    expect(logs.length).toBeGreaterThan(13);
    expect(logs.every((log) => log.topics.length === 3)).toBe(true);
  });

  test("answers reads in one batch through Multicall3, where one that reverts harms no other", async () => {
    const abi = parseAbi([
      "function name() view returns (string)",
      "function tokenURI(uint256) view returns (string)",
      "function uri(uint256) view returns (string)",
    ]);
    const { TidalGlyphs, HarborProvisions, MothAtlas } = chain.contracts;
    const answers = await client.multicall({
      multicallAddress: MULTICALL3_ADDRESS,
      contracts: [
        { abi, address: TidalGlyphs, functionName: "name" },
        { abi, address: TidalGlyphs, functionName: "tokenURI", args: [2n ** 200n] },
        { abi, address: HarborProvisions, functionName: "uri", args: [2n] },
        { abi, address: MothAtlas, functionName: "tokenURI", args: [9n] },
      ],
    });
    expect(answers.map((answer) => answer.status)).toEqual(["success", "failure", "success", "success"]);
    expect(answers[0]?.result).toBe("Tidal Glyphs");
    expect(answers[2]?.result).toMatch(/^data:application\/json;base64,/);
    const document = await fetch(String(answers[3]?.result)).then((response) => response.json());
    expect(document).toMatchObject({ image: "9.png" });
  });

  test("goes on with events that all succeed, trade among them", async () => {
    const seen = new Set<string>();
    for (let i = 0; i < 150; i += 1) {
      for (const hash of await chain.playEvent()) {
        const receipt = await client.getTransactionReceipt({ hash });
        expect(receipt.logs.length).toBeGreaterThan(0);
        for (const log of receipt.logs) seen.add(log.address);
      }
    }
    expect([...Object.values(chain.contracts), SEAPORT_ADDRESS].filter((address) => !seen.has(address))).toEqual([]);
  });
});

test("goes on when somebody else sends transactions from its accounts, as who tries a signed order does", async () => {
  const wallet = createWalletClient({ transport: http(chain.rpcUrl) });
  for (const account of await wallet.getAddresses())
    await wallet.sendTransaction({ account, to: account, chain: null, gas: 21_000n });
  for (let i = 0; i < 10; i += 1) expect((await chain.playEvent()).length).toBeGreaterThan(0);
});

test("an account whose transaction was refused goes on with the next one", async () => {
  const { client: anvil, mineBlock } = createMiner(chain.rpcUrl);
  const [from = zeroAddress] = await anvil.getAddresses();
  const pay = async () => {
    const { timestamp } = await anvil.getBlock();
    return mineBlock({ transactions: [{ from, to: from, data: "0x" }], timestamp: timestamp + 1n });
  };
  const value = await anvil.getBalance({ address: from });
  await pay();
  await anvil.setBalance({ address: from, value: 0n });
  await expect(pay()).rejects.toThrow(/insufficient funds/i);
  await anvil.setBalance({ address: from, value });
  expect(await pay()).toHaveLength(1);
});

test("the process leaves out what can't happen because somebody has used its accounts, and says so", async () => {
  const child = forkDemo();
  try {
    let stderr = "";
    child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const [{ rpcUrl }] = (await once(child, "message")) as [DemoReady];
    const { client: anvil } = createMiner(rpcUrl);
    const setBalances = async (value: bigint) => {
      for (const address of await anvil.getAddresses()) await anvil.setBalance({ address, value });
    };
    await setBalances(0n);
    await expect.poll(() => stderr).toMatch(/^The demo leaves out an event: [^\n]+\n/);
    await setBalances(parseEther("1000"));
    const before = await anvil.getBlockNumber({ cacheTime: 0 });
    await expect.poll(() => anvil.getBlockNumber({ cacheTime: 0 })).toBeGreaterThan(before);
  } finally {
    child.kill("SIGKILL");
  }
});

describe("the process", () => {
  let child: ChildProcess;
  let ready: DemoReady;
  beforeAll(async () => {
    child = forkDemo();
    [ready] = (await once(child, "message")) as [DemoReady];
  });
  afterAll(() => void child?.kill("SIGKILL"));

  test("tells its parent when it is ready, and has a new event within five seconds", async () => {
    expect(ready.type).toBe("ready");
    const client = createPublicClient({ transport: http(ready.rpcUrl), pollingInterval: 100 });
    expect(await client.getChainId()).toBe(ready.chainId);
    const before = await client.getBlockNumber({ cacheTime: 0 });
    await expect.poll(() => client.getBlockNumber({ cacheTime: 0 })).toBeGreaterThan(before);
    const head = await client.getBlock();
    expect(Math.abs(Number(head.timestamp) - Date.now() / 1000)).toBeLessThan(10);
  });

  test("has the same history at every start, but for the hour", async () => {
    const read = async (rpcUrl: string) => {
      const logs = await createPublicClient({ transport: http(rpcUrl) }).getLogs({ fromBlock: 0n, toBlock: 90n });
      // Documents hold the origin's port and the time of a weather report.
      return logs.map((log) => [log.address, log.blockNumber, log.logIndex, ...log.topics]);
    };
    const logs = await read(chain.rpcUrl);
    expect(await read(ready.rpcUrl)).toEqual(logs);
    const writers = new Set(logs.map(([address]) => address));
    expect(Object.values(chain.contracts).filter((address) => !writers.has(address))).toEqual([]);
  });

  test("says in one line what stopped it when its port is taken", async () => {
    const second = fork(join(import.meta.dirname, "main.ts"), ["--port", new URL(ready.rpcUrl).port], {
      execArgv: FROM_BUNDLE,
      silent: true,
    });
    let stderr = "";
    second.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    expect((await once(second, "close"))[0]).toBe(1);
    expect(stderr).toMatch(/^The demo chain stopped: anvil did not start on port \d+/);
  });

  test.runIf(process.platform === "linux")("takes anvil along when it is killed without a word", async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
    await expect.poll(() => isAnswered(ready.rpcUrl)).toBe(false);
  });
});

/** While it still builds its history, which takes seconds. */
describe("the process, from the moment that there is an anvil,", () => {
  let child: ChildProcess;
  let rpcUrl: string;
  beforeEach(async () => {
    const port = await findFreePort();
    rpcUrl = `http://127.0.0.1:${port}`;
    child = forkDemo("--port", String(port));
    while (!(await isAnswered(rpcUrl))) await sleep(50);
  });
  afterEach(() => void child.kill("SIGKILL"));

  test.each(["SIGINT", "SIGTERM"] as const)("ends at once on %s, and anvil with it", async (signal) => {
    child.kill(signal);
    expect((await once(child, "exit"))[0]).toBe(0);
    await expect.poll(() => isAnswered(rpcUrl)).toBe(false);
  });

  test("ends when its parent is gone, and anvil with it", async () => {
    child.disconnect();
    await once(child, "exit");
    await expect.poll(() => isAnswered(rpcUrl)).toBe(false);
  });
});

function forkDemo(...args: string[]): ChildProcess {
  return fork(join(import.meta.dirname, "main.ts"), args, {
    execArgv: FROM_BUNDLE,
    stdio: ["ignore", "inherit", "pipe", "ipc"],
  });
}

function isAnswered(rpcUrl: string): Promise<boolean> {
  return fetch(rpcUrl, { method: "POST" }).then(
    () => true,
    () => false,
  );
}
