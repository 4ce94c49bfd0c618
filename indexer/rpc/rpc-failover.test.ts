import { text } from "node:stream/consumers";
import { afterEach, expect, test, vi } from "vitest";
import { serveNode } from "../../test/node-server.ts";
import { serveOrigin } from "../../test/origin.ts";
import { startRpcFailover } from "./rpc-failover.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  vi.useRealTimers();
});

/** A node of chain 1 that answers everything else so; undefined: not at all. "cut": it cuts its answers. */
async function startNode(status: number | "cut" | undefined): Promise<string> {
  const { host, close } = await serveOrigin((request, response) => {
    if (status === undefined) return void request.socket.destroy();
    void text(request).then((body) => {
      const isTold = (status === 200 || status === "cut") && body.includes("eth_chainId");
      if (isTold) response.end('{"result":"0x1"}');
      else if (status === "cut") response.write("node", () => response.destroy());
      else response.writeHead(status).end(`node ${status}`);
    });
  });
  closing.push(close);
  return `http://:secret@${host}`;
}

async function ask(...statuses: (number | undefined)[]): Promise<[number, string]> {
  const failover = await startRpcFailover(await Promise.all(statuses.map(startNode)), { chainId: 1 });
  closing.push(failover.close);
  const response = await fetch(failover.url, { method: "POST", body: "{}" });
  return [response.status, await response.text()];
}

test("what an only node answers is passed on as it is", async () => {
  for (const status of [200, 401, 429, 500, 503]) expect(await ask(status)).toEqual([status, `node ${status}`]);
  expect(await ask(undefined)).toEqual([503, "No node answers."]);
});

test("of several nodes one that answers is heard, and a limit where none does", async () => {
  for (const status of [401, 402, 403, 429, 500, undefined])
    for (const statuses of [
      [200, status],
      [status, 200, status],
    ])
      expect(await ask(...statuses)).toEqual([200, "node 200"]);
  expect((await ask(429, 429))[0]).toBe(429);
  expect((await ask(429, undefined))[0]).toBe(429);
  expect((await ask(undefined, 429))[0]).toBe(429);
  expect((await ask(500, 401))[0]).toBe(503);
});

test("of several nodes one that cuts its answers is left alone for a while", async () => {
  const calls = [
    { method: "eth_getBlockByNumber", params: ["0x1", true] },
    { method: "eth_getLogs", params: [{ blockHash: "0x01" }] },
  ];
  for (const call of calls) {
    const failover = await startRpcFailover([await startNode("cut"), await startNode(200)], { chainId: 1 });
    closing.push(failover.close);
    for (let time = 0; time < 4; time++) {
      const response = await fetch(failover.url, { method: "POST", body: JSON.stringify(call) });
      expect(await response.text()).toBe("node 200");
    }
  }
});

type Call = { method: string; params: unknown[] };
type Answer = { result?: unknown; error?: { message: string } };

/**
 * Nodes that answer as they are told, or with an error, in turn from the second on, what each was asked beside its chain
 * and head, and the chains of those that were named for being of another one.
 */
async function startNodes(...answers: ((call: Call) => unknown)[]) {
  const asked: string[][] = answers.map(() => []);
  const urls = await Promise.all(
    answers.map(async (answer, place) => {
      const { url, close } = await serveNode((call: Call | Call[], response) => {
        const method = [call].flat()[0]!.method;
        if (method !== "eth_chainId" && method !== "eth_blockNumber") asked[place]!.push(method);
        const results = [call].flat().map(answer);
        if (results.includes(undefined)) return response.writeHead(500).end();
        const answers = results.map((result) =>
          result instanceof Error ? { error: { message: result.message } } : { result },
        );
        return response.end(JSON.stringify(Array.isArray(call) ? answers : answers[0]));
      });
      closing.push(close);
      return url;
    }),
  );
  const others: number[] = [];
  const failover = await startRpcFailover(urls, { chainId: 1, onOther: (_, chainId) => others.push(chainId) });
  closing.push(failover.close);
  const post = async (body: Call | Call[]) => {
    const response = await fetch(failover.url, { method: "POST", body: JSON.stringify(body) });
    const answers = [(await response.json()) as Answer | Answer[]].flat();
    return answers.map(({ result, error }) => error?.message ?? result);
  };
  const send = async (method: string, ...params: unknown[]) => (await post({ method, params }))[0];
  return { asked, others, send, sendBatch: post };
}

/** A node of chain 1 with blocks up to a head, which may change. */
const upTo =
  (head: () => number, chain = "0x1") =>
  ({ method, params: [tag] }: Call) => {
    if (method === "eth_chainId") return chain;
    if (method === "eth_blockNumber") return `0x${head().toString(16)}`;
    if (method !== "eth_getBlockByNumber") return "0x1";
    const number = tag === "latest" ? head() : Number(tag);
    return number <= head() ? { number } : null;
  };

test("a block that a node doesn't have, or a head that is no longer the newest, is the next node's", async () => {
  const heads = [5, 7];
  const { send } = await startNodes(
    upTo(() => heads[0]!),
    upTo(() => heads[1]!),
  );
  const fourTimes = async (tag: string) => {
    const blocks: unknown[] = [];
    for (let time = 0; time < 4; time++) blocks.push(await send("eth_getBlockByNumber", tag, false));
    return blocks;
  };
  const [older, newer, newest] = [5, 6, 7].map((number) => Array.from({ length: 4 }, () => ({ number })));
  expect(await fourTimes("latest")).toEqual(newest);
  expect(await fourTimes("0x7")).toEqual(newest);
  expect(await fourTimes("0x8")).toEqual(Array(4).fill(null));
  // A reorg to fewer blocks: the best that there is, and from then on nothing older.
  heads[1] = 6;
  expect(await fourTimes("latest")).toEqual(newer);
  heads[1] = 5;
  expect(await fourTimes("latest")).toEqual(older);
});

test("a node that tells its chain only later is asked that first, and nothing where it is of another", async () => {
  for (const [chain, words] of [
    ["0x1", "0x1"],
    ["0x2", "No node answers."],
  ] as const) {
    let isUp = false;
    const node = upTo(() => 100, chain);
    const { asked, send } = await startNodes(
      () => undefined,
      (call) => (isUp ? node(call) : undefined),
    );
    isUp = true;
    expect(await send("eth_gasPrice").catch(() => "No node answers.")).toBe(words);
    expect(asked[1]).toEqual(chain === "0x1" ? ["eth_gasPrice"] : []);
  }
});

test("logs of a range are a node's that has its last block", async () => {
  const heads = [100, 50];
  let isGone = false;
  const { asked, send } = await startNodes(
    (call) => (isGone ? undefined : upTo(() => heads[0]!)(call)),
    upTo(() => heads[1]!),
  );
  const sendRange = () => send("eth_getLogs", { fromBlock: "0x1", toBlock: "0x50" }).catch(() => "No node answers.");
  for (let time = 0; time < 4; time++) expect(await sendRange()).toBe("0x1");
  expect(asked.map(({ length }) => length)).toEqual([4, 0]);
  isGone = true;
  expect(await sendRange()).toBe("No node answers.");
  heads[1] = 80;
  expect(await sendRange()).toBe("0x1");
  expect(asked[1]).toEqual(["eth_getLogs"]);
});

test("nodes share the work, but for one that failed, is far behind or of another chain", async () => {
  const whole = upTo(() => 100);
  const requests = 6;
  const share = async (other: (call: Call) => unknown) => {
    const { asked, send } = await startNodes(whole, other);
    for (let time = 0; time < requests; time++) expect(await send("eth_gasPrice")).toBe("0x1");
    return asked.map(({ length }) => length);
  };
  expect(await share(whole)).toEqual([requests / 2, requests / 2]);
  const { asked, send } = await startNodes(whole, whole);
  for (let time = 0; time < requests; time++) await send("eth_getBlockByNumber", "latest", false);
  expect(asked.flat()).toHaveLength(requests);
  expect(await share(upTo(() => 70))).toEqual([requests / 2, requests / 2]);
  expect(await share(upTo(() => 69))).toEqual([requests, 0]);
  expect(await share(upTo(() => 200, "0x2"))).toEqual([requests, 0]);
  const failing = (call: Call) => (call.method === "eth_gasPrice" ? undefined : whole(call));
  expect(await share(failing)).toEqual([requests, 1]);
});

/** Two nodes of chain 1, the second of which answers for the chain that it is set to; undefined: it doesn't say. */
async function startChanging(chain: string | undefined) {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const whole = upTo(() => 100);
  let timesAsked = 0;
  const { asked, others, send } = await startNodes(whole, (call) => {
    if (call.method === "eth_chainId") timesAsked++;
    return call.method === "eth_chainId" ? chain : whole(call);
  });
  /** Of six requests those that each gets. */
  const share = async () => {
    const before = asked.map(({ length }) => length);
    for (let time = 0; time < 6; time++) await send("eth_gasPrice");
    return asked.map(({ length }, place) => length - before[place]!);
  };
  /** The share of each once the second has been asked for its chain again. */
  const become = async (other: string | undefined, shares: [number, number]) => {
    chain = other;
    timesAsked = 0;
    vi.advanceTimersByTime(10_000);
    await expect.poll(() => timesAsked).toBe(1);
    await expect.poll(share).toEqual(shares);
  };
  return { others, share, become };
}

test("a node of another chain is asked for its chain again, and has its share once it is of ours", async () => {
  const { others, share, become } = await startChanging("0x2");
  expect(await share()).toEqual([6, 0]);
  await become(undefined, [6, 0]);
  await become("0x2", [6, 0]);
  expect(others).toEqual([2]);
  await become("0x1", [3, 3]);
  await become("0x3", [6, 0]);
  await expect.poll(() => others).toEqual([2, 3]);
});

test("a node that begins to answer for another chain is left out and named, one that says nothing is asked last", async () => {
  const { others, share, become } = await startChanging("0x1");
  expect(await share()).toEqual([3, 3]);
  await become(undefined, [6, 0]);
  await become("0x1", [3, 3]);
  expect(others).toEqual([]);
  await become("0x2", [6, 0]);
  await expect.poll(() => others).toEqual([2]);
});

test("logs of a block that one of two nodes leaves out are the other one's, and gaps of the chain are believed", async () => {
  const nodes = [
    [0, 1, 3],
    [0, 1, 2, 3],
  ] as number[][];
  const answerOf =
    (place: number) =>
    ({ method }: Call) =>
      method === "eth_getLogs" ? nodes[place]!.map((number) => ({ logIndex: `0x${number.toString(16)}` })) : "0x1";
  const { asked, send } = await startNodes(answerOf(0), answerOf(1));
  const askForLogs = async () => ((await send("eth_getLogs", { blockHash: "0x01" })) as unknown[]).length;
  // Whoever is asked first.
  for (let time = 0; time < 4; time++) expect(await askForLogs()).toBe(4);

  nodes.splice(0, 2, [0, 1], [0, 1]);
  const gapless = asked.flat().length;
  for (let time = 0; time < 4; time++) expect(await askForLogs()).toBe(2);
  expect(asked.flat()).toHaveLength(gapless + 4);

  nodes.splice(0, 2, [0, 2, 4], [0, 2, 4]);
  for (let time = 0; time < 10; time++) expect(await askForLogs()).toBe(3);
  const before = asked.flat().length;
  for (let time = 0; time < 10; time++) expect(await askForLogs()).toBe(3);
  expect(asked.flat()).toHaveLength(before + 10);
});

test("logs of a block that one of two nodes doesn't know, or finds none for, are the other one's", async () => {
  const unknown = new Error("unknown block");
  let lacking: unknown = unknown;
  let other: unknown = [{ logIndex: "0x0" }];
  const answerOf =
    (logs: () => unknown) =>
    ({ method }: Call) =>
      method === "eth_getLogs" ? logs() : "0x1";
  const { send } = await startNodes(
    answerOf(() => lacking),
    answerOf(() => other),
  );
  const askTwice = async () => [
    await send("eth_getLogs", { blockHash: "0x01" }),
    await send("eth_getLogs", { blockHash: "0x01" }),
  ];
  expect(await askTwice()).toEqual([other, other]);
  lacking = [];
  expect(await askTwice()).toEqual([other, other]);
  other = [];
  expect(await askTwice()).toEqual([[], []]);
  lacking = unknown;
  expect(await askTwice()).toEqual([[], []]);
  other = unknown;
  expect(await askTwice()).toEqual(["unknown block", "unknown block"]);
});

test("so they are where the block is asked for in one batch, and no node is asked twice that knows both", async () => {
  const log = (number: number) => ({ logIndex: `0x${number}` });
  const bad: Record<string, unknown> = {};
  const good: Record<string, unknown> = { eth_getLogs: [log(0), log(1)], eth_getBlockByHash: { number: "0x1" } };
  const answerOf =
    (answers: Record<string, unknown>) =>
    ({ method }: Call) =>
      answers[method] === undefined ? "0x1" : answers[method];
  const { asked, sendBatch } = await startNodes(answerOf(bad), answerOf(good));
  const askTwice = async () => {
    const params = [{ blockHash: "0x01" }];
    const batch = [
      { method: "eth_getLogs", params },
      { method: "eth_getBlockByHash", params: ["0x01", false] },
    ];
    for (let time = 0; time < 2; time++) expect(await sendBatch(batch)).toEqual(Object.values(good));
  };
  for (const answers of [
    { ...good, eth_getLogs: [log(1)] },
    { eth_getLogs: [], eth_getBlockByHash: null },
    { ...good, eth_getLogs: new Error("unknown block") },
  ]) {
    Object.assign(bad, answers);
    await askTwice();
  }
  Object.assign(bad, good);
  const before = asked.flat().length;
  await askTwice();
  expect(asked.flat()).toHaveLength(before + 2);
});
