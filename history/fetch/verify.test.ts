import { type Hex, keccak256, numberToHex, toHex } from "viem";
import { afterEach, expect, test } from "vitest";
import {
  type Behaviour,
  type LogToMake,
  type MadeBlock,
  makeChain,
  type Provider,
  startProvider,
} from "../../test/log-provider.ts";
import { fetchLogs } from "./fetch.ts";
import { createRpcPool } from "../rpc/rpc-pool.ts";
import type { LogFilter, WantedLogs } from "../wanted.ts";

const TRANSFER = keccak256(toHex("Transfer(address,address,uint256)"));
const UPDATE = keccak256(toHex("MetadataUpdate(uint256)"));
const [TOKEN, BRIDGED, FORGED] = [1, 2, 3].map((number) => numberToHex(number, { size: 20 })) as [Hex, Hex, Hex];
const BLOCKS = 24;
const EMPTY_BLOOM: Hex = `0x${"0".repeat(512)}`;
const word = (value: number) => numberToHex(value, { size: 32 });
const move = (address: Hex): LogToMake => ({
  address,
  topics: [TRANSFER, word(0), word(5), word(7)],
  data: "0x",
  transaction: 0,
});

const chainOf = (contractsOf: (number: number) => Hex[]) =>
  makeChain(Array.from({ length: BLOCKS }, (_, number) => contractsOf(number).map(move)));

/** Blocks with a log of each of these contracts in block 3, one in block 4, none in others. */
const blocksOf = (...contracts: Hex[]) =>
  chainOf((number) => {
    const all = number === 3 ? [TOKEN, BRIDGED] : number === 4 ? [TOKEN] : [];
    return all.filter((address) => contracts.includes(address));
  });
const withBlooms = (chain: MadeBlock[], bloomOf: (number: number) => Hex) =>
  chain.map((block) => ({ ...block, logsBloom: bloomOf(block.number) }));
const right = blocksOf(TOKEN, BRIDGED);
const partial = withBlooms(right, (number) => blocksOf(TOKEN)[number]!.logsBloom);
const empty = withBlooms(right, () => EMPTY_BLOOM);

const providers: Provider[] = [];
afterEach(async () => {
  await Promise.all(providers.splice(0).map((provider) => provider.stop()));
});

const wanted: WantedLogs = { addresses: "*", topics: [TRANSFER], minTopics: 4, ofTransaction: "" };

/** All logs' places, the problems that were reported, and which nodes are no longer trusted. */
async function fetchAll(nodes: { chain: MadeBlock[]; behaviour?: Behaviour }[], filter: LogFilter = [wanted]) {
  const stop = new AbortController();
  for (const { chain, behaviour = {} } of nodes) {
    const provider = await startProvider(chain);
    provider.set(behaviour);
    providers.push(provider);
  }
  const problems: string[] = [];
  const onProblem = (line: string) => void problems.push(line);
  const pool = createRpcPool(
    providers.map(({ url }) => url),
    { chain: { chainId: 1 }, signal: stop.signal, onProblem },
  );
  const ranges = fetchLogs(pool, {
    filter,
    fromBlock: 0,
    toBlock: BLOCKS - 1,
    forms: new Map(),
    signal: stop.signal,
    onProblem,
  });
  const places: string[] = [];
  for await (const { logs, order } of ranges)
    for (const log of order ?? Array.from({ length: logs.count }, (_, at) => at))
      places.push(`${logs.blocks.numbers[logs.blockOf[log]!]!} ${logs.logIndexOf[log]!}`);
  pool.close();
  return { places, problems, untrusted: pool.nodes.map(({ isUntrusted }) => isUntrusted) };
}

const losesFirst: Behaviour = { loses: ({ blockNumber, logIndex }) => blockNumber === "0x3" && logIndex === "0x0" };

test.each<[string, MadeBlock[]]>([
  ["is right", right],
  ["lacks some logs", partial],
  ["is empty", empty],
])("a log that one node has lost takes no other with it where the bloom %s", async (_, chain) => {
  const { places, problems } = await fetchAll([{ chain, behaviour: losesFirst }, { chain }]);
  expect(places).toEqual(["3 0", "3 2", "4 0"]);
  expect(problems.join("\n")).toContain("The answers differ");
});

test("a block that one node has nothing of is there where the bloom is empty", async () => {
  const behaviour: Behaviour = { loses: ({ blockNumber }) => blockNumber === "0x3" };
  const { places } = await fetchAll([{ chain: empty, behaviour }, { chain: empty }]);
  expect(places).toEqual(["3 0", "3 2", "4 0"]);
});

test("logs behind those that two calls bring are there where another one is lost", async () => {
  const update: LogToMake = { address: TOKEN, topics: [UPDATE], data: "0x", transaction: 0 };
  const chain = makeChain(
    Array.from({ length: BLOCKS }, (_, number) => (number === 3 || number === 4 ? [move(TOKEN), update] : [])),
  );
  const filter: LogFilter = [wanted, { ...wanted, addresses: [TOKEN], topics: [TRANSFER, UPDATE], minTopics: 1 }];
  const { places } = await fetchAll([{ chain, behaviour: losesFirst }, { chain }], filter);
  expect(places).toEqual(["3 0", "3 2", "4 0", "4 2"]);
});

test("a log that is made up isn't taken, and takes no other with it", async () => {
  const forged = chainOf((number) => (number === 3 ? [TOKEN, BRIDGED, FORGED] : number === 4 ? [TOKEN] : []));
  const liar = withBlooms(forged, (number) => right[number]!.logsBloom);
  const { places } = await fetchAll([{ chain: liar }, { chain: right }]);
  expect(places).toEqual(["3 0", "3 2", "4 0"]);
});

// Before a node's first logs it is asked whether it has any of blocks: these have too many.
test.each<[string, Behaviour["heavyAnswer"]]>([
  ["with a 503", { above: 10_000, status: 503, body: "<html>" }],
  ["by cutting the answer", { above: 10_000, status: 200 }],
  ["by cutting the connection", { above: 10_000, status: "cut" }],
])(
  "a node before which something gives up on all logs of a block %s is asked for the wanted ones",
  async (_, heavyAnswer) => {
    const update: LogToMake = { address: BRIDGED, topics: [UPDATE], data: "0x", transaction: 0 };
    const busy = Array.from({ length: 60 }, () => update);
    const chain = makeChain(Array.from({ length: BLOCKS }, (_, number) => (number < 20 ? busy : [move(TOKEN)])));
    const { places } = await fetchAll([{ chain, behaviour: { heavyAnswer } }]);
    expect(places).toEqual(["20 0", "21 0", "22 0", "23 0"]);
  },
);

test("a node of another chain is asked for nothing but its chain", async () => {
  const { places, problems } = await fetchAll([{ chain: everyToken, behaviour: { chainId: 5 } }, { chain: right }]);
  expect(places).toEqual(["3 0", "3 2", "4 0"]);
  expect(providers.map(({ calls }) => Object.keys(calls).length)).toEqual([1, expect.any(Number)]);
  expect(problems.join("\n")).toContain("It answers for chain 5. Expected 1.");
});

const every = chainOf(() => [TOKEN, BRIDGED]);
const everyToken = chainOf(() => [TOKEN]);
const bridge = withBlooms(every, (number) => everyToken[number]!.logsBloom);
const lossy: Behaviour = { loses: ({ logIndex }) => logIndex === "0x0" };
const forgery = chainOf(() => [TOKEN, BRIDGED, FORGED]);
const nothing = chainOf(() => []);

test.each<[string, { chain: MadeBlock[]; behaviour?: Behaviour; chainOfOther: MadeBlock[]; isFound: boolean }]>([
  ["that loses logs is found out", { chain: every, behaviour: lossy, chainOfOther: every, isFound: true }],
  [
    "that loses logs is found out, and no other, where blooms lack some",
    { chain: bridge, behaviour: lossy, chainOfOther: bridge, isFound: true },
  ],
  [
    "that makes logs up is found out",
    { chain: withBlooms(forgery, (number) => every[number]!.logsBloom), chainOfOther: every, isFound: true },
  ],
  [
    "isn't blamed, nor is the other, where blooms are empty and the answers agree on nothing",
    { chain: withBlooms(everyToken, () => EMPTY_BLOOM), chainOfOther: nothing, isFound: false },
  ],
])("a node %s", async (_, { chain, behaviour = {}, chainOfOther, isFound }) => {
  const other = { chain: chainOfOther, behaviour: { maxBlocks: 2 } };
  const { untrusted } = await fetchAll([{ chain, behaviour: { ...behaviour, maxBlocks: 2 } }, other]);
  expect(untrusted).toEqual([isFound, false]);
});
