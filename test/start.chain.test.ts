import { execFile } from "node:child_process";
import { readdirSync, readFileSync, watch } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFreePort } from "../indexer/free-port.ts";
import { startChain, type TestChain } from "./chain.ts";
import { type Command, startCommand } from "./command.ts";
import { createEmptyDatabase } from "./database.ts";
import { WAIT_TIMEOUT_MS } from "./indexer.ts";
import { readTour, runShown } from "./readme.ts";
import { compile } from "./solidity.ts";

/** `npm start` as a whole. It waits most of the time: one service, and others in another folder, beside each other. */

const ONE_BY_ONE = { concurrent: false };

describe.concurrent("the demo, one start after the other,", () => {
  let service: Service;
  let key: string;
  let registered: string;
  let contracts: number;
  let testnet: TestChain;

  beforeAll(async () => {
    [service, testnet] = await Promise.all([createService(), startChain({ chainId: 4243 })]);
  });

  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await testnet?.stop();
  });

  test("answers, and outlives the death of each of its parts", ONE_BY_ONE, async () => {
    // Whoever runs it may have no right to write where it is installed, as in a container.
    const written = new Set<string | null>();
    const watcher = watch(join(import.meta.dirname, ".."), (_, name) => written.add(name));
    const running = await service.start();
    watcher.close();
    expect([...written].filter((name) => name === null || /ponder|vite|timestamp/.test(name))).toEqual([]);
    expect(running.output()).toContain(`(embedded, in ${basename(service.dataDir)})`);
    key = keyIn(running.output());
    contracts = ((await service.get("/v1/contracts?limit=250", key)).result as unknown[]).length;
    expect(contracts).toBeGreaterThanOrEqual(6);
    expect((await fetch(`http://127.0.0.1:${service.port}/v1/contracts`)).status).toBe(401);

    await service.runFirstRequests(key);

    for (const part of ["bin/indexer.ts", "ponder.js", "bin/worker.ts", "bin/api.ts"]) {
      const listParts = () => service.listProcesses().filter(({ command }) => command.includes(part));
      await service.until(() => listParts().length === 1, `${part} runs`);
      const [victim] = listParts();
      process.kill(victim!.pid, "SIGKILL");
      await service.until(() => listParts().some(({ pid }) => pid !== victim!.pid), `${part} runs again`);
    }
    // The chain goes on by itself: what is indexed now was mined after all that.
    let head: number | undefined;
    await service.until(async () => {
      const status = await service.mainnetStatus().catch(() => undefined);
      head ??= status?.head_block;
      return head !== undefined && status?.state === "live" && status.indexed_block > head;
    }, "the index moves on");
    for (const { pid } of service.listProcesses()) process.kill(pid, "SIGKILL");
    await running.ended;
    await service.until(() => service.listProcesses().length === 0, "all are gone");
  });

  test(
    "starts after the death of all, and told to end while it ends, it still stops all that it started",
    ONE_BY_ONE,
    async () => {
      // A test network beside the demo, which stays the main one.
      const running = await service.start({ TESTNET_RPC_URL: testnet.rpcUrl });
      expect(keyIn(running.output())).toBe(key);
      expect(await service.get("/testnet/v1/contracts", key)).toEqual({ cursor: null, result: [] });
      registered = await service.registerKey();

      const chain = service.listProcesses().find(({ command }) => command.includes("demo/main.ts"));
      process.kill(chain!.pid, "SIGKILL");
      await service.until(() => /The demo chain ended/.test(running.output()), "the end of the demo chain is noticed");
      await running.stop();
      expect(await running.ended).toBe(1);
      expect(service.listProcesses()).toEqual([]);
    },
  );

  test("keeps what isn't its own, goes without what is set for a real chain, and ends clean", ONE_BY_ONE, async () => {
    const forRealChain = { MAINNET_CONTRACTS: `0x${"12".repeat(20)}`, MAINNET_START_BLOCK: "7", MAINNET_END_BLOCK: "" };
    const mistaken = { MAINNET_CONTRACT: `0x${"12".repeat(20)}` };
    const running = await service.start({ TESTNET_RPC_URL: testnet.rpcUrl, ...forRealChain, ...mistaken });
    expect(running.output()).toContain(
      "MAINNET_CONTRACT is set, but nothing reads it. Expected one of the variables in the README.\n",
    );
    expect(running.output()).toContain(
      "MAINNET_RPC_URL is not set: the demo chain goes without MAINNET_START_BLOCK, MAINNET_CONTRACTS.\n",
    );
    expect(await service.get("/testnet/v1/contracts", registered)).toEqual({ cursor: null, result: [] });
    expect((await service.get("/v1/contracts?limit=250", registered)).result).toHaveLength(contracts);
    await running.stop();
    expect(await running.ended).toBe(0);
    await service.until(() => service.listProcesses().length === 0, "nothing is left running");
  });
});

describe.concurrent("in one folder, one after the other", () => {
  let service: Service;

  beforeAll(async () => {
    service = await createService();
  });

  afterAll(() => service?.[Symbol.asyncDispose]());

  test(
    "what was indexed of a configured chain is kept, and the next start goes on from there",
    ONE_BY_ONE,
    async () => {
      const chain = await startChain();
      try {
        await chain.mineEmpty(40);
        // As people start it: npm hands a signal to a shell, which must not be what is left of it.
        let running = await service.start({ MAINNET_RPC_URL: chain.rpcUrl }, { isByNpm: true });
        // Not below the folder that it runs in, so it is told whole.
        expect(running.output()).toContain(`(embedded, in ${service.dataDir})`);
        const first = await service.mainnetStatus();
        await running.stop();
        await service.until(() => service.listProcesses().length === 0, "nothing is left running");
        const [key = ""] = /nft_\w+/.exec(await runKeys("create", "between")) ?? [];
        await service.until(() => service.listProcesses().length === 0, "nothing is left running");
        const rebuild = startCommand("rebuild", { env: { DATA_DIR: service.dataDir, MAINNET_RPC_URL: chain.rpcUrl } });
        await service.until(() => /rebuilds into/.test(rebuild.output()), "a rebuild is under way");
        await rebuild.stop();
        expect(await rebuild.ended).toBe(130);
        await service.until(() => service.listProcesses().length === 0, "nothing is left running");
        await chain.mineEmpty(5);
        running = await service.start({ MAINNET_RPC_URL: chain.rpcUrl });
        expect((await service.mainnetStatus()).indexed_block).toBe(first.indexed_block + 5);

        // A command beside it leaves it its Postgres, and one that dies is started again.
        expect(await runKeys("list")).toContain("between");
        await service.get("/v1/contracts", key);
        const [postmaster] = (await readFile(join(service.dataDir, "postgres/postmaster.pid"), "utf8")).split("\n");
        process.kill(Number(postmaster), "SIGKILL");
        await chain.mineEmpty(5);
        await service.until(async () => {
          const status = await service.mainnetStatus().catch(() => undefined);
          return status?.state === "live" && status.indexed_block === first.indexed_block + 10;
        }, "the index moves on");
        await service.get("/v1/contracts", key);

        async function runKeys(...args: string[]): Promise<string> {
          const command = startCommand("keys", {
            env: { DATA_DIR: service.dataDir, MAINNET_RPC_URL: chain.rpcUrl },
            args,
          });
          expect(await command.ended, command.output()).toBe(0);
          return command.output();
        }
      } finally {
        await chain.stop();
      }
    },
  );

  test(
    "two services on a Postgres of their own: the one whose version is replaced goes on with what the other makes",
    ONE_BY_ONE,
    async () => {
      const [chain, database] = await Promise.all([startChain(), createEmptyDatabase()]);
      const emitter = await chain.deploy(compile("Emitter").Emitter);
      const env = { DATABASE_URL: database.url, MAINNET_RPC_URL: chain.rpcUrl };
      // On a fresh clone there is no folder yet.
      const folders = ["first", "second"].map((name) => join(service.dataDir, name));
      let other: Command | undefined;
      try {
        const running = await service.start({ ...env, DATA_DIR: folders[0]! });
        const key = keyIn(running.output());
        other = startCommand("start", {
          env: { ...env, DATA_DIR: folders[1], PORT: String(await findFreePort()), MAINNET_CONTRACTS: emitter.address },
        });
        await service.until(
          () => /another version has taken over/.test(running.output()),
          "the first one's indexer ends",
        );
        await service.until(() => /Ready after/.test(other!.output()), "the other one is ready");
        // The pause before what ended is started again is a second.
        await sleep(3_000);
        expect(running.output()).not.toContain("Starts again");
        expect(other.output()).not.toContain("another version");
        await chain.mineEmpty(5);
        const head = await chain.head();
        await service.until(
          async () => (await service.mainnetStatus()).indexed_block === head,
          "the first one shows what the other indexes",
        );
        expect((await service.mainnetStatus()).state).toBe("live");
        await service.get("/v1/contracts", key);
      } finally {
        await other?.stop();
        await service.stop();
        await Promise.all([chain.stop(), database.drop()]);
      }
    },
  );
});

test.concurrent("a taken port, a node that isn't there and a node of another chain end the start with one line", async ({
  expect,
}) => {
  await using service = await createService();
  const chain = await startChain({ chainId: 4242 });
  const demoTwin = await startChain({ chainId: 31_337 });
  const cases = [
    [{ PORT: new URL(chain.rpcUrl).port }, /^PORT \d+ is taken on 127\.0\.0\.1\. Expected a free one\.\n$/],
    [
      { MAINNET_RPC_URL: "http://127.0.0.1:9" },
      /^MAINNET_RPC_URL is unreachable \(127\.0\.0\.1:9: .*\)\. Expected .*\n$/,
    ],
    [
      { MAINNET_RPC_URL: chain.rpcUrl, MAINNET_CHAIN_ID: "1" },
      /^MAINNET_CHAIN_ID is 1, but MAINNET_RPC_URL 127\.0\.0\.1:\d+ answers for chain 4242\. Expected the same\.\n$/,
    ],
    [
      { MAINNET_CHAIN_ID: "1" },
      /^MAINNET_CHAIN_ID is 1, but MAINNET_RPC_URL is not set, and the demo chain is 31337\. Expected MAINNET_RPC_URL too\.\n$/,
    ],
    [
      { DATABASE_URL: "postgres://127.0.0.1:9/x" },
      /^DATABASE_URL 127\.0\.0\.1:9\/x is unreachable \(.*\)\. Expected .*\n$/,
    ],
    [
      { TESTNET_RPC_URL: demoTwin.rpcUrl },
      /^TESTNET_RPC_URL answers for chain 31337, as the main network does\. Expected another\.\n$/,
    ],
    [{ HOST: "192.0.2.1" }, /^HOST 192\.0\.2\.1 can't be listened on: .*\. Expected an address of this machine\.\n$/],
    [
      { DATA_DIR: import.meta.filename },
      /^DATA_DIR \S+ can't be used \(ENOTDIR: .*\)\. Expected a folder that may be written\.\n$/,
    ],
    [
      { DATA_DIR: "/proc/nft-index" },
      /^DATA_DIR \/proc\/nft-index can't be used \(ENOENT: .*\)\. Expected a folder that may be written\.\n$/,
    ],
    [{ MAINNET_CONTRACTS: "0x12" }, /^MAINNET_CONTRACTS is "0x12"\. Expected addresses of 0x and 40 hex digits, .*\n$/],
  ] as const;
  await Promise.all(
    cases.map(async ([env, line]) => {
      // One of its own: each start listens on it for a moment.
      const own = { DATA_DIR: join(service.dataDir, "unused"), PORT: String(await findFreePort()) };
      const command = startCommand("start", { env: { ...own, ...env } });
      expect(await command.ended).toBe(1);
      expect(command.output()).toMatch(line);
    }),
  );
  await Promise.all([chain.stop(), demoTwin.stop()]);
});

test.concurrent("what is set for a test network without a node is named", async ({ expect }) => {
  await using service = await createService();
  const testnet = { TESTNET_CONTRACTS: `0x${"12".repeat(20)}`, TESTNET_HOST: "test.example", TESTNET_END_BLOCK: "" };
  // A start that goes no further.
  const env = { DATA_DIR: service.dataDir, PORT: String(service.port), MAINNET_CHAIN_ID: "1", ...testnet };
  const command = startCommand("start", { env });
  expect(await command.ended).toBe(1);
  expect(command.output()).toMatch(
    /^TESTNET_RPC_URL is not set: there is no test network, and no use for TESTNET_CONTRACTS, TESTNET_HOST\.\nMAINNET_CHAIN_ID is 1/,
  );
});

test.concurrent("another chain in the place of the one before is followed, with no word of a mismatch", async ({
  expect,
}) => {
  await using service = await createService();
  const chains = await Promise.all([startChain({ chainId: 4244 }), startChain({ chainId: 4245 })]);
  try {
    await service.start({ MAINNET_RPC_URL: chains[0].rpcUrl });
    const running = await service.start({ MAINNET_RPC_URL: chains[1].rpcUrl });
    expect(running.output()).not.toMatch(/Expected the same|Starts again/);
    const { networks } = await service.get("/status", "");
    expect(networks).toMatchObject({ mainnet: { chain_id: 4245, state: "live" } });
    await service.until(
      () => service.listProcesses().some(({ command }) => command.includes("bin/worker.ts")),
      "it runs",
    );
  } finally {
    await Promise.all(chains.map((chain) => chain.stop()));
  }
});

test.concurrent("Ctrl-C in the midst of setting up the database ends the start once that is whole", async ({
  expect,
}) => {
  await using service = await createService();
  const env = { DATA_DIR: service.dataDir, PORT: String(service.port) };
  const command = startCommand("start", { env, isOfTerminal: true });
  await service.until(
    () => service.listProcesses().some(({ command: line }) => line.includes("bin/initdb")),
    "the database is being set up",
  );
  process.kill(-command.pid, "SIGINT");
  expect(await command.ended).toBe(0);
  expect(command.output()).toBe("Stopping ...\n");
  expect(service.listProcesses()).toEqual([]);
  expect(readdirSync(service.dataDir).filter((name) => name.startsWith("postgres.new"))).toEqual([]);
});

type Service = Awaited<ReturnType<typeof createService>>;

/** A folder and a port to start in: every process that is started there carries its DATA_DIR in its environment. */
async function createService() {
  const dataDir = await mkdtemp(join(tmpdir(), "nft-index-start-"));
  const port = await findFreePort();
  let running: Command | undefined;
  const stop = async () => running?.stop();

  /** Starts it and waits until it is ready. It ends with the service, if not before. */
  async function start(env: Record<string, string> = {}, options: { isByNpm?: boolean } = {}): Promise<Command> {
    await stop();
    const command = startCommand("start", { env: { DATA_DIR: dataDir, PORT: String(port), ...env }, ...options });
    running = command;
    const outcome = await Promise.race([
      until(() => /Ready after/.test(command.output()), "it is ready").then(() => "ready"),
      command.ended,
    ]);
    expect(outcome, command.output()).toBe("ready");
    return command;
  }

  /** What the README shows is what it does: its first requests, with this service's address and key. */
  async function runFirstRequests(key: string): Promise<void> {
    const { variables, tour, program } = await readTour();
    const url = `http://127.0.0.1:${port}`;
    const ours = variables.replace(/^API=.*$/m, `API=${url}`).replace(/^KEY=.*$/m, `KEY=${key}`);
    expect(tour.length).toBeGreaterThanOrEqual(11);
    for (const shown of tour) JSON.parse(await runShown(shown, { variables: ours, cwd: dataDir }));

    const file = join(dataDir, "first.ts");
    const client = join(import.meta.dirname, "../client/client.ts");
    await writeFile(file, program.replace("./client/client.ts", client).replace("http://127.0.0.1:3000", url));
    const env = { ...process.env, KEY: key };
    const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
    expect(stdout).toMatch(/^1 0x[\da-f]{40} Ruby Emerald #1\n/);
  }

  async function get(path: string, key: string): Promise<Record<string, unknown>> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { "x-api-key": key } });
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, unknown>;
  }

  async function registerKey(): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${port}/keys`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "kept" }),
    });
    const { result } = (await response.json()) as { result: { key: string } };
    return result.key;
  }

  async function mainnetStatus() {
    const { networks } = await (get("/status", "") as Promise<{
      networks: { mainnet: { state: string; head_block: number; indexed_block: number } };
    }>);
    return networks.mainnet;
  }

  /** Processes whose environment names our DATA_DIR, Postgres by its command line. */
  function listProcesses(): { pid: number; command: string }[] {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .flatMap((name) => {
        try {
          const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
          const environment = readFileSync(`/proc/${name}/environ`, "utf8");
          const isOurs = environment.includes(`DATA_DIR=${dataDir}\0`) || command.includes(dataDir);
          return isOurs && command !== "" ? [{ pid: Number(name), command }] : [];
        } catch {
          return [];
        }
      });
  }

  async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
    for (const deadline = Date.now() + WAIT_TIMEOUT_MS; Date.now() < deadline; await sleep(200))
      if (await isSo()) return;
    throw new Error(`Waited ${WAIT_TIMEOUT_MS / 1000} s in vain until ${what}. It printed:\n${running?.output()}`);
  }

  return {
    dataDir,
    port,
    start,
    stop,
    runFirstRequests,
    get,
    registerKey,
    mainnetStatus,
    listProcesses,
    until,
    [Symbol.asyncDispose]: async () => {
      await stop();
      for (const { pid } of listProcesses()) process.kill(pid, "SIGKILL");
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const keyIn = (output: string) => /API key\s+(\S+)/.exec(output)?.[1] ?? "";
