import { type Hex, keccak256, numberToHex, toHex } from "viem";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { withConnection } from "../../postgres/pool.ts";
import { readConfig } from "../../config.ts";
import { listSources } from "../../sources.ts";
import { createReadableDatabase, type TestDatabase } from "../../test/database.ts";
import {
  type Behaviour,
  type LogToMake,
  type MadeBlock,
  makeChain,
  type MadeTransaction,
  type Provider,
  startProvider,
} from "../../test/log-provider.ts";
import { applyLogs, createTables, textsOf } from "../../test/memory-store.ts";
import { randomChain } from "../../test/random-chain.ts";
import { createRandom } from "../../test/random-logs.ts";
import { type ChainLog, type Chunk, logAt } from "../chain-log.ts";
import { keepChunk } from "./chunk-store.ts";
import { decodeChunk } from "./chunk.ts";
import { readHistory } from "./read-history.ts";
import { readLogs } from "./read.ts";
import { createRpcPool } from "../rpc/rpc-pool.ts";
import { filterOfSources } from "../source-filter.ts";
import { createMatcher, type LogFilter, type WantedLogs } from "../wanted.ts";

const TRANSFER = keccak256(toHex("Transfer(address,address,uint256)"));
const SINGLE = keccak256(toHex("TransferSingle(address,address,address,uint256,uint256)"));
const UPDATE = keccak256(toHex("MetadataUpdate(uint256)"));
const SOLD = keccak256(toHex("Sold()"));
const CONTRACTS = [1, 2, 3, 4].map((number) => numberToHex(number, { size: 20 }));
const [, KITTY, EXCHANGE, COIN] = CONTRACTS as [Hex, Hex, Hex, Hex];
const BLOCKS = 900;

const part = (changes: Partial<WantedLogs>): WantedLogs => ({
  addresses: "*",
  topics: [TRANSFER],
  minTopics: 1,
  ofTransaction: "",
  ...changes,
});
const whole = part({ topics: [TRANSFER, SINGLE], minTopics: 4 });
const filter: LogFilter = [
  whole,
  part({ topics: [UPDATE] }),
  part({ addresses: [EXCHANGE], topics: [SOLD], ofTransaction: "sender" }),
];

const word = (random: () => number, below = 2 ** 40) => numberToHex(BigInt(Math.floor(random() * below)), { size: 32 });

/** Blocks with all kinds of logs that a filter may take or leave, and blocks without any. */
function randomBlocks(seed: number, { perBlock = 12 } = {}): LogToMake[][] {
  const random = createRandom(seed);
  const kinds = [
    (): Omit<LogToMake, "transaction"> => ({
      address: CONTRACTS[Math.floor(random() * 3)]!,
      topics: [TRANSFER, word(random), word(random), word(random, 2)],
      data: "0x",
    }),
    () => ({ address: COIN, topics: [TRANSFER, word(random), word(random)], data: word(random) }),
    () => ({ address: KITTY, topics: [UPDATE], data: word(random) }),
    () => ({ address: EXCHANGE, topics: [SOLD], data: `${word(random)}ab01` as Hex }),
    () => ({ address: COIN, topics: [SOLD], data: "0x" as Hex }),
    () => ({
      address: CONTRACTS[0]!,
      topics: [SINGLE, word(random), word(random), word(random)],
      data: `${word(random, 2)}${word(random).slice(2)}` as Hex,
    }),
  ];
  return Array.from({ length: BLOCKS }, () => {
    const count = random() < 0.3 ? 0 : Math.floor(random() * perBlock);
    return Array.from({ length: count }, (_, index) => ({
      ...kinds[Math.floor(random() * kinds.length)]!(),
      transaction: Math.floor(index / 3),
    }));
  });
}

const transactionOf: MadeTransaction = (hash) => ({
  from: `0x${hash.slice(2, 42)}`,
  to: EXCHANGE,
  input: "0x",
});

/** The token that a log moves, if it moves one. */
function tokenOf({ address, topics, data }: LogToMake | MadeBlock["logs"][number]): string | undefined {
  if (topics.length !== 4) return undefined;
  return `${address} ${topics[0] === SINGLE ? data.slice(0, 66) : topics[3]}`;
}

/** The logs that a filter wants of a chain, worked out from the chain itself. */
function logsOf(chain: MadeBlock[], wanted: LogFilter, { from = 0, to = chain.length - 1 } = {}): ChainLog[] {
  const matches = createMatcher(wanted);
  const senders = createMatcher(wanted.filter(({ ofTransaction }) => ofTransaction !== ""));
  return chain.slice(from, to + 1).flatMap((block) => {
    const logs = block.logs.filter(({ address, topics }) => matches(address, topics[0]!, topics.length));
    const transactions = Map.groupBy(logs, ({ transactionHash }) => transactionHash);
    const signed = new Set(
      [...transactions].flatMap(([hash, own]) => {
        const tokens = own.map(tokenOf).filter((token) => token !== undefined);
        const isAsked = own.some(({ address, topics }) => senders(address, topics[0]!, topics.length));
        return isAsked && new Set(tokens).size < tokens.length ? [hash] : [];
      }),
    );
    return logs.map(({ address, topics, data, transactionHash, logIndex }) => ({
      blockNumber: block.number,
      timestamp: block.timestamp,
      blockHash: block.hash,
      transactionHash,
      logIndex: Number(logIndex),
      address,
      topics,
      data,
      sender: signed.has(transactionHash) ? transactionOf(transactionHash).from : null,
      note: null,
    }));
  });
}

type LogPlace = { inBlock: number; inTransaction: number; isLast: boolean };

/** Where a log is in its block, and in its transaction; and whether that is the block's last. */
function placeOf(chain: MadeBlock[], { blockNumber, transactionHash, logIndex }: MadeBlock["logs"][number]): LogPlace {
  const { logs } = chain[Number(blockNumber)]!;
  const own = logs.filter((log) => log.transactionHash === transactionHash);
  const isThis = (log: MadeBlock["logs"][number]) => log.logIndex === logIndex;
  const isLast = logs.at(-1)!.transactionHash === transactionHash;
  return { inBlock: logs.findIndex(isThis), inTransaction: own.findIndex(isThis), isLast };
}

/** The wanted logs of a chain whose node bends indexes: as it numbers them where that tells their order, else counted. */
function numbered(
  chain: MadeBlock[],
  bends: (log: MadeBlock["logs"][number]) => MadeBlock["logs"][number],
): ChainLog[] {
  const bentOf = new Map(chain.flatMap(({ logs }) => logs.map((log) => [`${log.blockNumber} ${log.logIndex}`, log])));
  return [...Map.groupBy(logsOf(chain, filter), ({ blockNumber }) => blockNumber).values()].flatMap((logs) => {
    const own = logs.map((log) => bentOf.get(`${numberToHex(log.blockNumber)} ${numberToHex(log.logIndex)}`)!);
    const bent = own.map(bends);
    const isOrdered = bent.every((log, at) => at === 0 || Number(log.logIndex) > Number(bent[at - 1]!.logIndex));
    return logs.map((log, at) => ({
      ...log,
      logIndex: isOrdered ? Number(bent[at]!.logIndex) : placeOf(chain, own[at]!).inBlock,
    }));
  });
}

const chain = { chainId: 1, genesisHash: "0x01" };

let database: TestDatabase;
let providers: Provider[];
let problems: string[];
beforeAll(async () => {
  database = await createReadableDatabase();
});
beforeEach(() => {
  providers = [];
  problems = [];
});
afterEach(async () => {
  await Promise.all(providers.map((provider) => provider.stop()));
  // All that a reader keeps.
  await withConnection(database.url, (sql) => sql`truncate offchain.kept_log_filter cascade`);
});
afterAll(() => database.drop());

async function provide(chain: MadeBlock[], ...behaviours: Behaviour[]): Promise<Provider[]> {
  for (const behaviour of behaviours) {
    const provider = await startProvider(chain, { transactionOf });
    provider.set(behaviour);
    providers.push(provider);
  }
  return providers;
}

type Reading = { wanted?: LogFilter; from?: number; to?: number; genesisHash?: string };

/** All logs of a range, read by the code that the reader thread runs. */
async function read({
  wanted = filter,
  from = 0,
  to = BLOCKS - 1,
  genesisHash = chain.genesisHash,
}: Reading = {}): Promise<ChainLog[]> {
  const sql = postgres(database.url, { max: 3, onnotice: () => {} });
  const stop = new AbortController();
  const onProblem = (line: string) => void problems.push(line);
  const pool = createRpcPool(urlsOf(providers), { chain, signal: stop.signal, onProblem });
  const of = { chain: { ...chain, genesisHash }, filter: wanted, fromBlock: from, toBlock: to };
  const options = { ...of, signal: stop.signal, onProblem };
  try {
    return await gather(readLogs(sql, pool, options), from);
  } finally {
    stop.abort();
    pool.close();
    await sql.end();
  }
}

async function gather(chunks: AsyncIterable<Chunk>, from: number): Promise<ChainLog[]> {
  const logs: ChainLog[] = [];
  let next = from;
  for await (const chunk of chunks) {
    expect(chunk.fromBlock).toBe(next);
    next = chunk.toBlock + 1;
    for (let log = 0; log < chunk.logs.count; log++) logs.push(logAt(chunk.logs, log));
  }
  return logs;
}

const urlsOf = (list: Provider[]) => list.map(({ url }) => url);
const rangesOf = ({ queries }: Provider) => queries.map(({ fromBlock, toBlock }) => toBlock - fromBlock + 1);

describe("one node", () => {
  const made = makeChain(randomBlocks(1));
  const truth = logsOf(made, filter);

  test.each<[string, Behaviour]>([
    ["without limits", {}],
    ["that tells the times", { blockTimestamp: ({ timestamp }) => numberToHex(timestamp) }],
    // As go-ethereum 1.16.1 did for some logs, and as Sonic does.
    ["that tells no time but zero", { blockTimestamp: () => "0x0" }],
    [
      "that tells the times but for some zeros",
      { blockTimestamp: ({ number, timestamp }) => numberToHex(number % 7 === 3 ? 0 : timestamp) },
    ],
    ["that tells the times of another clock", { blockTimestamp: ({ timestamp }) => numberToHex(timestamp + 3600) }],
    ["that tells the times as numbers", { blockTimestamp: ({ timestamp }) => timestamp }],
    ["that tells the times as digits", { blockTimestamp: ({ timestamp }) => String(timestamp) }],
    [
      "whose blooms are none",
      { writes: (text) => text.replaceAll(/"logsBloom":"0x[0-9a-f]+"/g, () => '"logsBloom":"0x"') },
    ],
    ["with a limit of blocks that it names", { maxBlocks: 7 }],
    [
      "with a limit of blocks that it doesn't name",
      { maxBlocks: 11, blocksError: () => ({ code: -32_000, message: "the range is too large" }) },
    ],
    [
      "with a limit of blocks and words that nobody foresaw",
      { maxBlocks: 40, blocksError: () => ({ code: -1, message: "no" }) },
    ],
    ["with a limit of logs", { maxLogs: 60 }],
    [
      "with a limit of logs and a range to try",
      {
        maxLogs: 60,
        logsError: (limit, from) => ({
          code: -32_005,
          message: `query returned more than ${limit} results. Try with this block range [${numberToHex(from)}, ${numberToHex(from + 3)}].`,
        }),
      },
    ],
    ["that takes no batches", { maxBatch: 1 }],
    ["that takes small batches", { maxBatch: 3 }],
    // As Hedera's relay does, as a server that reads one object, as Erigon did, and a provider that charges each call.
    [
      "that takes no batches and says so in words that nobody foresaw",
      {
        maxBatch: 1,
        batchRefusal: () => ({
          status: 200,
          body: '{"error":{"message":"Invalid Request","code":-32600},"jsonrpc":"2.0","id":null}',
        }),
      },
    ],
    [
      "that takes small batches and answers others with no JSON",
      { maxBatch: 3, batchRefusal: () => ({ status: 400, body: "invalid character '['" }) },
    ],
    [
      "that leaves out what is too much in a batch",
      {
        maxBatch: 3,
        batchRefusal: (calls) => ({
          status: 200,
          body: JSON.stringify(calls.slice(0, 2).map(({ id }) => ({ jsonrpc: "2.0", id, result: null }))),
        }),
      },
    ],
    [
      "that has not enough of a rate for large batches",
      { maxBatch: 20, batchRefusal: () => ({ status: 429, body: "" }) },
    ],
    ["that takes no batches and says 413 to them", { maxBatch: 1, batchRefusal: () => ({ status: 413, body: "no" }) }],
    ["that gives less for a batch than a block has", { maxBatchText: 5_000 }],
    [
      "that indents its answers and leaves out ids where there is one",
      {
        writes: (text) => `\n${JSON.stringify(JSON.parse(text.replace(/^\{"jsonrpc":"2.0","id":\d+,/, "{")), null, 1)}`,
      },
    ],
    [
      "that runs out of time now and then",
      {
        refuses: (request) =>
          request % 8 === 0
            ? {
                status: 200,
                body: '{"jsonrpc":"2.0","id":0,"error":{"code":30,"message":"Request timeout on the free tier"}}',
              }
            : undefined,
      },
    ],
    [
      "before which something gives up on large answers",
      { heavyAnswer: { above: 20_000, status: 503, body: "<html>" } },
    ],
    ["before which something cuts large answers", { heavyAnswer: { above: 20_000, status: 200 } }],
    ["that cuts the connection at large answers", { heavyAnswer: { above: 20_000, status: "cut" } }],
    ["that cuts the connection before large answers", { heavyAnswer: { above: 20_000, status: "cut", body: "" } }],
    [
      "before which something cuts large answers that are compressed",
      { isCompressing: true, heavyAnswer: { above: 5_000, status: 200 } },
    ],
    ["that ignores places of topics", { positions: "ignored" }],
    ["that finds nothing by places of topics", { positions: "nothing" }],
    ["that has forgotten its transactions", { hasNoTransactions: true }],
    [
      "that fails now and then",
      {
        refuses: (request) => {
          if (request % 9 === 0) return { status: 503 };
          if (request % 7 === 0) return { status: 200, body: '{"jsonrpc":"2.0","id":0,"result":[{"address":"0x' };
          if (request % 11 === 0) return { status: 200, body: "<html>" };
          return undefined;
        },
      },
    ],
  ])("%s", async (_, behaviour) => {
    await provide(made, behaviour);
    expect(await read()).toEqual(truth);
  });

  test("that tells the times is asked for the headers of few blocks", async () => {
    const [provider] = await provide(made, { blockTimestamp: ({ timestamp }) => numberToHex(timestamp) });
    expect(await read()).toEqual(truth);
    const blocks = new Set(truth.map(({ blockNumber }) => blockNumber));
    expect(provider!.calls.eth_getBlockByNumber).toBeLessThan(blocks.size / 4);
  });

  // As Filecoin does. The ends of the readings are skipped, too.
  test("of a chain that skips numbers", async () => {
    const skipping = makeChain(randomBlocks(1), { skips: (number) => number % 7 > 4 || number === BLOCKS - 1 });
    await provide(skipping, { maxBlocks: 20 });
    expect(await read({ to: 348 })).toEqual(logsOf(skipping, filter, { to: 348 }));
    expect(await read()).toEqual(logsOf(skipping, filter));
    expect(problems).toEqual([]);
  });

  // As chains before Polygon zkEVM's eighth fork, as VeChain's proxy, and as Erigon with the last transaction at Polygon.
  test.each<[string, (log: MadeBlock["logs"][number], place: LogPlace) => Partial<MadeBlock["logs"][number]>]>([
    ["are counted by the transaction", (_, { inTransaction }) => ({ logIndex: numberToHex(inTransaction) })],
    ["have no place", () => ({ logIndex: "0x0", transactionIndex: "0x0" })],
    [
      "are counted anew in the last transaction",
      (_, { inTransaction, isLast }) => (isLast ? { logIndex: numberToHex(inTransaction) } : {}),
    ],
  ])("whose logs %s is asked for receipts", async (_, bend) => {
    const seeded = randomBlocks(3).slice(0, 200);
    // Twice the same log.
    for (const block of seeded) if (block.length > 2 && block.length % 2 === 0) block.push(block.at(-1)!);
    const plain = makeChain(seeded);
    const bends = (log: MadeBlock["logs"][number]) => ({ ...log, ...bend(log, placeOf(plain, log)) });
    await provide(plain, { bends, hasReceipts: true, maxBlocks: 40 });
    expect(await read({ to: 199 })).toEqual(numbered(plain, bends));
    expect(problems).toEqual([]);
  });

  test("whose logs are counted by the transaction has receipts also where a proxy fails now and then", async () => {
    const plain = makeChain(randomBlocks(3).slice(0, 60));
    const bends = (log: MadeBlock["logs"][number]) => {
      const { inTransaction } = placeOf(plain, log);
      return { ...log, logIndex: numberToHex(inTransaction) };
    };
    const refuses = (request: number) => (request % 4 === 0 ? { status: 502, body: "<html>Bad gateway" } : undefined);
    await provide(plain, { bends, refuses, hasReceipts: true });
    expect(await read({ to: 59 })).toEqual(numbered(plain, bends));
  });

  // As behind a load balancer.
  test.each([1, 2])("with a backend that is behind is asked until it has the last block, %i", async (turn) => {
    await provide(made, { headOf: (request) => (request % 3 === turn ? BLOCKS - 20 : Infinity) });
    expect(await read()).toEqual(truth);
  });

  // Blocks of few wanted logs: their headers are larger than the logs.
  test.each<[string, Behaviour["heavyAnswer"]]>([
    ["a 503 comes instead of large answers", { above: 60_000, status: 503, body: "<html>" }],
    ["large answers are cut", { above: 60_000, status: 200 }],
    ["the connection is cut at large answers", { above: 60_000, status: "cut" }],
  ])("of which %s is asked for fewer headers at once", async (_, heavyAnswer) => {
    const large = (text: string) => text.replaceAll('"parentHash"', `"extraData":"0x${"00".repeat(3000)}",$&`);
    await provide(made, { writes: large, heavyAnswer });
    const wanted = [part({ addresses: [EXCHANGE], topics: [SOLD] })];
    expect(await read({ wanted })).toEqual(logsOf(made, wanted));
  });

  test("that cuts answers short is asked for less", async () => {
    const many = makeChain(randomBlocks(2, { perBlock: 40 }));
    await provide(many, { cutAt: 500 });
    expect(await read()).toEqual(logsOf(many, filter));
    expect(problems.join("\n")).toContain("The answers differ");
  });

  // As Reth did, and Erigon.
  test.each<[string, Behaviour, string]>([
    ["has thrown away", { loses: ({ blockNumber }) => Number(blockNumber) < 100 }, "It has no logs of blocks"],
    ["doesn't find", { indexedFrom: 100 }, "aren't found by their topics"],
  ])("that %s the first logs is refused, and what it gave is right", async (_, behaviour, problem) => {
    const [provider] = await provide(made, behaviour);
    await expect(read()).rejects.toThrow(problem);
    // Whatever could be kept before that.
    provider!.set({});
    expect(await read()).toEqual(truth);
  });

  test("with a limit of logs that a block exceeds is asked for its topics apart", async () => {
    const many = makeChain(randomBlocks(3, { perBlock: 40 }));
    const mostOf = (...topics: Hex[]) =>
      Math.max(...many.map(({ logs }) => logs.filter((log) => topics.includes(log.topics[0]!)).length));
    const maxLogs = Math.max(...[TRANSFER, SINGLE, UPDATE, SOLD].map((topic) => mostOf(topic)));
    expect(mostOf(TRANSFER, SINGLE)).toBeGreaterThan(maxLogs);
    await provide(many, { maxLogs, positions: "ignored" });
    expect(await read()).toEqual(logsOf(many, filter));
  });

  test.each<[string, Behaviour]>([
    ["refused", { maxLogs: 500 }],
    ["left out without a word", { cutAt: 500 }],
  ])("of which a block's logs of one topic are %s is asked for its receipts", async (_, behaviour) => {
    const move = { address: KITTY, topics: [UPDATE], data: "0x" as Hex, transaction: 0 };
    const blocks = [[], [move], Array.from({ length: 1_200 }, () => move), [move], []];
    await provide(makeChain(blocks), { ...behaviour, hasReceipts: true });
    const wanted = [part({ topics: [UPDATE] })];
    expect(await read({ wanted, to: 4 })).toEqual(logsOf(makeChain(blocks), wanted));
  });

  test("that looks for few contracts at once is asked for some after the others", async () => {
    const addresses = Array.from({ length: 30 }, (_, number) => numberToHex(number + 1, { size: 20 }));
    const [provider] = await provide(made, { maxAddresses: 8 });
    const wanted = [part({ addresses })];
    expect(await read({ wanted })).toEqual(logsOf(made, wanted));
    expect(provider!.queries.filter(({ isGiven }) => !isGiven).length).toBeLessThan(30);
  });

  // Each batch that is too large uses up the quota of its second.
  test("that charges each call of a batch against a rate is soon asked for no more", async () => {
    const [provider] = await provide(made, { rate: { calls: 60, refuses: "requests" } });
    const start = Date.now();
    expect(await read({ to: 150 })).toEqual(logsOf(made, filter, { to: 150 }));
    expect(Date.now() - start).toBeLessThan(30_000);
    expect(provider!.requests.length).toBeLessThan(60);
  });

  test("learns a limit of blocks once", async () => {
    const [provider] = await provide(made, { maxBlocks: 20 });
    await read();
    expect(provider!.queries.filter(({ isGiven }) => !isGiven).length).toBeLessThan(30);
    expect(Math.max(...rangesOf(provider!).slice(30))).toBe(20);
  });

  test("that names when to come again is left alone until then", async () => {
    const [provider] = await provide(made, {
      maxBlocks: 50,
      refuses: (request) => (request === 12 ? { status: 429, headers: { "retry-after": "1" } } : undefined),
    });
    expect(await read()).toEqual(truth);
    // Requests that were on their way already don't count.
    const gaps = provider!.requests.map((time, at, all) => time - (all[at - 1] ?? time));
    expect(Math.max(...gaps.slice(12))).toBeGreaterThanOrEqual(900);
  });

  test("is left alone no longer where the clock is set back meanwhile", async () => {
    const setBack = () => void vi.setSystemTime(Date.now() - 3_600_000);
    await provide(made, {
      maxBlocks: 50,
      refuses: (request) => {
        if (request !== 12) return undefined;
        setTimeout(setBack, 500);
        return { status: 429, headers: { "retry-after": "1" } };
      },
    });
    try {
      expect(await read()).toEqual(truth);
    } finally {
      vi.useRealTimers();
    }
  });

  test("is asked for transactions in which a token moves more than once beside what an exchange says", async () => {
    const [provider] = await provide(made, {});
    await read();
    const signed = new Set(truth.filter(({ sender }) => sender).map(({ transactionHash }) => transactionHash));
    const traded = new Set(truth.filter(({ topics }) => topics[0] === SOLD).map((log) => log.transactionHash));
    expect(provider!.calls.eth_getTransactionByHash).toBe(signed.size);
    expect(signed.size).toBeGreaterThan(10);
    expect(signed.size).toBeLessThan(traded.size / 5);
  });

  test("isn't asked for fungible transfers where it understands places of topics", async () => {
    const [provider] = await provide(made, {});
    await read();
    const plain = provider!.queries.filter(
      ({ filter: { topics } }) => topics?.[0]?.includes(TRANSFER) && topics.length < 4,
    );
    // Those were probes only.
    expect(plain.every(({ fromBlock }) => fromBlock >= BLOCKS - 500)).toBe(true);
  });
});

describe("several nodes", () => {
  const made = makeChain(randomBlocks(3));
  const truth = logsOf(made, filter);

  test.each<[string, Behaviour[]]>([
    ["share the work", [{}, {}]],
    ["of which one is down", [{ isDown: true }, {}]],
    ["with other limits", [{ maxBlocks: 3 }, { maxLogs: 500 }, { maxBatch: 2 }]],
    ["of which one has lost logs", [{ loses: ({ logIndex }) => logIndex === "0x4" }, {}]],
    ["of which one is empty", [{}, { loses: () => true }]],
  ])("%s", async (_, behaviours) => {
    await provide(made, ...behaviours);
    expect(await read()).toEqual(truth);
  });

  test("of a chain that skips numbers, one of which has lost logs", async () => {
    const skipping = makeChain(randomBlocks(3), { skips: (number) => number % 7 > 4 });
    await provide(skipping, { maxBlocks: 20, loses: ({ logIndex }) => logIndex === "0x4" }, {});
    expect(await read()).toEqual(logsOf(skipping, filter));
  });

  test("of which one counts logs by the transaction have each log once", async () => {
    const plain = made.slice(0, 300);
    const bends = (log: MadeBlock["logs"][number]) => {
      const { inTransaction } = placeOf(plain, log);
      return { ...log, logIndex: numberToHex(inTransaction) };
    };
    await provide(plain, { hasReceipts: true, maxBlocks: 10 }, { bends, hasReceipts: true, maxBlocks: 10 });
    const withoutIndex = (logs: ChainLog[]) => logs.map((log) => ({ ...log, logIndex: 0 }));
    const found = await read({ to: 299 });
    expect(withoutIndex(found)).toEqual(withoutIndex(logsOf(plain, filter)));
  });

  test("of which one is of another chain", async () => {
    const other = makeChain(randomBlocks(3), { name: "fork" });
    await provide(made, {}, {});
    const [, , liar] = await provide(other, {});
    expect(liar!.url).not.toBe(providers[0]!.url);
    expect(await read({ to: 60 })).toEqual(logsOf(made, filter, { to: 60 }));
  });
});

describe("what is kept", () => {
  const made = makeChain(randomBlocks(4));
  const truth = logsOf(made, filter);

  test("is read without a node", async () => {
    const [provider] = await provide(made, {});
    await read();
    provider!.requests.length = 0;
    provider!.queries.length = 0;
    expect(await read()).toEqual(truth);
    // It asks for the chain, and whether the last block is still there.
    expect(provider!.requests.length).toBe(2);
    expect(provider!.queries).toEqual([]);
    provider!.set({ isDown: true });
    expect(await read()).toEqual(truth);
  });

  test("is kept where the only node has come to be of another chain", async () => {
    const [provider] = await provide(made, {});
    await read();
    provider!.setChain(makeChain(randomBlocks(5), { name: "other" }));
    provider!.set({ chainId: 2 });
    expect(await read()).toEqual(truth);
    expect(problems).toContainEqual(expect.stringContaining("It answers for chain 2. Expected 1."));
    provider!.queries.length = 0;
    provider!.setChain(made);
    provider!.set({});
    expect(await read()).toEqual(truth);
    expect(provider!.queries).toEqual([]);
  });

  test("is left alone by another chain of the same number", async () => {
    const [provider] = await provide(made, {});
    await read();
    const other = makeChain(randomBlocks(5), { name: "other" });
    provider!.setChain(other);
    expect(await read({ genesisHash: "0x02" })).toEqual(logsOf(other, filter));
    provider!.setChain(made);
    provider!.queries.length = 0;
    expect(await read()).toEqual(truth);
    expect(provider!.queries).toEqual([]);
  });

  test("is where a reader goes on that was stopped in the middle", async () => {
    const [provider] = await provide(made, { maxBlocks: 10 });
    await read({ to: 699 });
    provider!.queries.length = 0;
    expect(await read()).toEqual(truth);
    expect(
      Math.min(...provider!.queries.filter(({ filter: { topics } }) => topics).map(({ fromBlock }) => fromBlock)),
    ).toBe(700);
    // From the middle of a chunk, and from the last block of one.
    for (const from of [333, 699])
      expect(await read({ from, to: 777 })).toEqual(logsOf(made, filter, { from, to: 777 }));
  });

  test("is fetched again where it is damaged", async () => {
    const [provider] = await provide(made, {});
    const sql = postgres(database.url, { max: 1 });
    for (const to of [299, 599, 899]) await read({ to });
    await sql`
      update offchain.kept_log_chunk
      set content = set_byte(content, 100, get_byte(content, 100) # 1)
      where from_block = 300
    `;
    provider!.queries.length = 0;
    expect(await read({ to: 899 })).toEqual(logsOf(made, filter, { to: 899 }));
    expect(problems).toEqual(["What was kept of blocks 300 to 599 is damaged; it is fetched again"]);
    // Queries at the end of the chain are probes: they find out which form of query the node understands.
    const others = provider!.queries.filter(({ toBlock }) => toBlock < BLOCKS - 1);
    expect(others.every(({ fromBlock, toBlock }) => fromBlock >= 300 && toBlock <= 599)).toBe(true);

    await sql`update offchain.kept_log_chunk set content = substring(content for 50) where from_block = 600`;
    expect(await read({ to: 899 })).toEqual(logsOf(made, filter, { to: 899 }));
    await sql`delete from offchain.kept_log_chunk where from_block = 0`;
    expect(await read({ to: 899 })).toEqual(logsOf(made, filter, { to: 899 }));
    await sql.end();
  });

  test("is enough for all contracts but a new one", async () => {
    const listed = (...addresses: Hex[]) => [part({ addresses, topics: [TRANSFER, SINGLE], minTopics: 4 })];
    const [provider] = await provide(made, {});
    const [first] = CONTRACTS as [Hex];
    await read({ wanted: listed(first) });
    provider!.queries.length = 0;
    expect(await read({ wanted: listed(first, KITTY) })).toEqual(logsOf(made, listed(first, KITTY)));
    const asked = provider!.queries.filter((query) => query.filter.topics);
    expect(new Set(asked.map(({ filter: { address } }) => address?.join()))).toEqual(new Set([KITTY]));
    provider!.queries.length = 0;
    // Fewer contracts than are kept need no query either.
    expect(await read({ wanted: listed(KITTY) })).toEqual(logsOf(made, listed(KITTY)));
    expect(provider!.queries).toEqual([]);
  });

  test("is enough for all events but a new one", async () => {
    const [provider] = await provide(made, {});
    await read({ wanted: [whole] });
    provider!.queries.length = 0;
    expect(await read()).toEqual(truth);
    const topics = provider!.queries.flatMap((query) => query.filter.topics?.[0] ?? []);
    expect(new Set(topics)).toEqual(new Set([UPDATE, SOLD]));
  });

  test("and what is fetched beside it have no log twice, where contracts are said to be of the first generation later", async () => {
    const beside = part({ addresses: [CONTRACTS[0]!, KITTY], topics: [TRANSFER], minTopics: 1 });
    const later = [whole, beside];
    expect(logsOf(made, [beside]).length).toBeGreaterThan(20);
    const [provider] = await provide(made, {});
    await read({ wanted: [whole] });
    for (const isKept of [false, true]) {
      provider!.queries.length = 0;
      expect(await read({ wanted: later })).toEqual(logsOf(made, later));
      const asked = new Set(provider!.queries.map(({ filter: { address } }) => address?.join()));
      expect([...asked]).toEqual(isKept ? [] : [`${CONTRACTS[0]},${KITTY}`]);
    }
  });

  test("is enough for a contract of the draft that is named later, but for who signed what", async () => {
    const sold = part({ addresses: [EXCHANGE], topics: [SOLD], ofTransaction: "sender" });
    const one = word(() => 0);
    const move = { address: KITTY, topics: [TRANSFER, one, one], data: one, transaction: 0 };
    const [provider] = await provide(makeChain([[], [move, { ...move, address: EXCHANGE, topics: [SOLD] }, move]]), {});
    const sendersOf = async (wanted: LogFilter) =>
      (await read({ wanted, to: 1 })).map(
        ({ sender, transactionHash }) => sender === transactionOf(transactionHash).from,
      );
    // Before it is named, what has three topics is a fungible token's.
    expect(await sendersOf([part({}), sold])).toEqual([false, false, false]);
    provider!.queries.length = 0;
    const named = [part({ minTopics: 4 }), part({ addresses: [KITTY] }), sold];
    expect(await sendersOf(named)).toEqual([true, true, true]);
    expect(provider!.queries).toEqual([]);
  });

  test("is enough for a contract that is added later, and for sales of its tokens", async () => {
    const sourcesOf = (contracts: string) =>
      listSources(readConfig({ MAINNET_RPC_URL: "http://localhost:1", MAINNET_CONTRACTS: contracts }), {
        network: "mainnet",
        chainId: 31337,
      });
    const written = randomChain(7, { sources: sourcesOf("*"), logCount: 4_000 });
    const contracts = [...new Set(written.map(({ address }) => address))].filter((one) => /^0x(71|15|3d)/.test(one));
    const accounts = [...new Set(written.map(({ sender }) => sender!))];
    const sold = makeChain(
      Array.from({ length: written.at(-1)!.blockNumber + 1 }, (_, number) =>
        written
          .filter(({ blockNumber }) => blockNumber === number)
          .map((log) => ({ ...log, transaction: Number(BigInt(log.transactionHash) % 10_000n) })),
      ),
    );
    const signerOf = (hash: Hex) => accounts[Number(BigInt(hash) % BigInt(accounts.length))]!;
    const provider = await startProvider(sold, {
      transactionOf: (hash) => ({ from: signerOf(hash), to: EXCHANGE, input: "0x" }),
    });
    providers.push(provider);
    const range = { to: sold.length - 1 };
    for (const [known, count] of [
      [0, 2],
      [2, 4],
      [4, contracts.length],
    ] as const) {
      const sources = sourcesOf(contracts.slice(0, count).join(","));
      const wanted = filterOfSources(sources);
      const [kept, fresh] = [createTables(), createTables()];
      const all = logsOf(sold, wanted).map((log) => ({ ...log, sender: signerOf(log.transactionHash) }));
      await applyLogs(fresh, all, { sources });
      const before = provider.calls.eth_getTransactionByHash;
      provider.queries.length = 0;
      // This test is about senders, not about notes.
      const seen = (await read({ wanted, ...range })).map((log) => ({ ...log, note: null }));
      await applyLogs(kept, seen, { sources });
      expect(textsOf(kept)).toEqual(textsOf(fresh));
      const sales = [...fresh.get("tokenEvent")!.values()].filter(({ event_type }) => event_type === "sale");
      expect(sales.length).toBeGreaterThan(20);
      expect(provider.calls.eth_getTransactionByHash).toBeGreaterThan(before ?? 0);
      const asked = new Set(provider.queries.flatMap(({ filter: { address = [] } }) => address));
      // The first time, the logs of exchanges are asked for as well.
      const ofContracts = known === 0 ? asked.intersection(new Set(contracts)) : asked;
      expect(ofContracts).toEqual(new Set(contracts.slice(known, count)));
    }
  });

  test("is enough where exchanges are added later: theirs alone is fetched, and who signed what", async () => {
    const sources = listSources(readConfig({ MAINNET_RPC_URL: "http://localhost:1" }), {
      network: "mainnet",
      chainId: 1,
    });
    const names = ["ZoraReserveAuction", "ZoraAuctionHouse", "PaymentProcessorV1", "PaymentProcessorV2", "Element"];
    const added = new Set(names);
    const addresses = new Set(sources.flatMap((source) => (added.has(source.name) ? source.addresses : [])));
    const written = randomChain(9, { sources, logCount: 3_000 });
    const accounts = [...new Set(written.map(({ sender }) => sender!))];
    const sold = makeChain(
      Array.from({ length: written.at(-1)!.blockNumber + 1 }, (_, number) =>
        written
          .filter(({ blockNumber }) => blockNumber === number)
          .map((log) => ({ ...log, transaction: Number(BigInt(log.transactionHash) % 10_000n) })),
      ),
    );
    const signerOf = (hash: Hex) => accounts[Number(BigInt(hash) % BigInt(accounts.length))]!;
    const provider = await startProvider(sold, {
      transactionOf: (hash) => ({ from: signerOf(hash), to: EXCHANGE, input: "0x" }),
    });
    providers.push(provider);
    const range = { to: sold.length - 1 };
    await read({ wanted: filterOfSources(sources.filter(({ name }) => !added.has(name))), ...range });
    const before = provider.queries.length;
    const wanted = filterOfSources(sources);
    const seen = (await read({ wanted, ...range })).map((log) => ({ ...log, note: null }));
    // Without those for a whole block, of one whose bloom may have such a log.
    const asked = provider.queries.slice(before).flatMap(({ filter: { address } }) => address ?? []);
    expect(new Set(asked)).toEqual(addresses);

    const [upgraded, fresh] = [createTables(), createTables()];
    const all = logsOf(sold, wanted).map((log) => ({ ...log, sender: signerOf(log.transactionHash) }));
    await applyLogs(upgraded, seen, { sources });
    await applyLogs(fresh, all, { sources });
    expect(textsOf(upgraded)).toEqual(textsOf(fresh));
    const marketplaces = [...fresh.get("tokenEvent")!.values()].map(({ marketplace }) => marketplace);
    for (const marketplace of ["zora", "payment-processor", "element"]) expect(marketplaces).toContain(marketplace);
  });

  test("with notes of another version is used without them", async () => {
    const [provider] = await provide(made, {});
    await read();
    const sql = postgres(database.url, { max: 1 });
    const [kept] = await sql<{ filter_id: number; content: Buffer }[]>`
      select
        filter_id,
        content
      from offchain.kept_log_chunk
    `;
    const chunk = decodeChunk(kept!.content);
    const sold = truth.flatMap(({ address, topics }, log) => (address === EXCHANGE && topics[0] === SOLD ? [log] : []));
    expect(sold.length).toBeGreaterThan(20);
    for (const log of sold) chunk.logs.notes!.set(log, "0x0b");
    await keepChunk(sql, { filterId: kept!.filter_id, chunk, lastBlockHash: made.at(-1)!.hash });
    await sql`update offchain.kept_log_filter set content = replace(content, '"sender"', '"a note of before"')`;
    await sql.end();
    provider!.queries.length = 0;
    expect(await read()).toEqual(truth);
    expect(provider!.queries).toEqual([]);
  });

  test("goes when the chain has replaced its blocks", async () => {
    const [provider] = await provide(made, {});
    for (const to of [299, 599, 899]) await read({ to });
    const fork = makeChain(randomBlocks(5), { name: "fork" });
    const replaced = [...made.slice(0, 500), { ...fork[500]!, parentHash: made[499]!.hash }, ...fork.slice(501)];
    provider!.setChain(replaced);
    provider!.queries.length = 0;
    expect(await read()).toEqual(logsOf(replaced, filter));
    expect(Math.min(...provider!.queries.map(({ fromBlock }) => fromBlock))).toBe(300);
    // The first chunk too.
    const anew = makeChain(randomBlocks(7), { name: "anew" });
    provider!.setChain(anew);
    expect(await read()).toEqual(logsOf(anew, filter));
  });

  test("goes when the chain began anew and is shorter", async () => {
    const [provider] = await provide(made, {});
    for (const to of [299, 599]) await read({ to });
    const shorter = [...made.slice(0, 300), ...makeChain(randomBlocks(8), { name: "shorter" }).slice(300, 451)];
    provider!.setChain(shorter);
    expect(await read({ to: 450 })).toEqual(logsOf(shorter, filter));
  });
});

describe("a thread of its own", () => {
  const made = makeChain(randomBlocks(6));
  const options = () => ({
    databaseUrl: database.url,
    chain,
    rpcUrls: urlsOf(providers),
    filter,
    fromBlock: 0,
    toBlock: BLOCKS - 1,
  });

  test("reads the same", async () => {
    await provide(made, {});
    expect(await gather(readHistory(options()), 0)).toEqual(logsOf(made, filter));
  });

  test("ends when nobody reads on, also while its node is down", async () => {
    await provide(made, {});
    for await (const chunk of readHistory(options())) {
      expect(chunk.fromBlock).toBe(0);
      providers[0]!.set({ isDown: true });
      break;
    }
    providers[0]!.set({});
    expect(await read()).toEqual(logsOf(made, filter));
  });

  test("says why it can't go on", async () => {
    await provide(made, {});
    const rename = (from: string, to: string) =>
      withConnection(database.url, (sql) => sql`alter table ${sql(`offchain.${from}`)} rename to ${sql(to)}`);
    await rename("kept_log_chunk", "gone");
    await expect(gather(readHistory(options()), 0)).rejects.toThrow("kept_log_chunk");
    await rename("gone", "kept_log_chunk");
  });
});
