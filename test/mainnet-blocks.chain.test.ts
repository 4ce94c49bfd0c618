import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { type Hex, zeroAddress } from "viem";
import { beforeAll, expect, test } from "vitest";
import {
  type BareLog,
  blocksOf,
  type BlockServer,
  MAINNET_FINALITY,
  type ServedBlock,
  startBlockServer,
} from "./block-server.ts";
import { createTestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { closeAfterAll } from "./opened.ts";
import type { RawLog } from "./log-oracle.ts";
import { type EventRow, type OnchainTables, readTables } from "./onchain-tables.ts";
import { logOf, transferLog, words } from "./raw-log.ts";
import { describeSamples, readSample, readSampleLines, samplePath } from "./samples.ts";

const FIRST_PUNKS: Hex = "0x6ba6f2207e343923ba692e5cae646fb0f566db8d";
const OP_QUEST: Hex = "0xfa14e1157f35e1dad95dc3f822a9d18c40e360e2";

/** The others lie millions of blocks apart. */
const PAST_BLOCKS = [14_764_013, 15_537_393, 17_034_869, 19_426_587, 22_431_084];
/** Six of the real blocks follow each other. */
const LIVE_BLOCKS = [17_686_110, 17_686_111, 17_686_112, 17_686_113, 17_686_114, 17_686_115];

type ExpectedEvent = {
  block_number: number;
  timestamp: number;
  transaction_hash: Hex;
  log_index: number;
  batch_index?: number;
  contract_address: Hex;
  standard: string;
  from: Hex;
  to: Hex;
  token_id: string;
  quantity: string;
};

/** Blocks to be served and indexed: from `first`, up to `last` at once, then with the head at each of `laterHeads`. */
type Source = {
  blocks: ServedBlock[];
  first: number;
  last: number;
  head: number;
  isEnded?: boolean;
  laterHeads?: number[];
};

const rangeOf = (prefix: string, { first, last, isEnded }: Source) => ({
  [`${prefix}_START_BLOCK`]: String(first),
  // One more: history never has the last one, which is Ponder's.
  ...(isEnded && { [`${prefix}_END_BLOCK`]: String(last + 1) }),
});

describeSamples("real logs, served as a node serves them (skipped where the samples are not at hand)", () => {
  const { opened } = closeAfterAll();

  const createDatabase = async () => opened(await createTestDatabase());

  const serve = async (options: Parameters<typeof startBlockServer>[0]): Promise<BlockServer> =>
    opened(await startBlockServer(options));

  /** Indexes what two servers have, one as each network: a chain is the same whatever its number. */
  async function index(mainnet: Source, testnet: Source): Promise<[OnchainTables, OnchainTables]> {
    const database = await createDatabase();
    const servers = [await serve({ chainId: 1, ...mainnet }), await serve({ chainId: 10, ...testnet })] as const;
    const indexer = opened(
      startIndexer({
        databaseUrl: database.url,
        rpcUrl: servers[0].url,
        env: {
          ...rangeOf("MAINNET", mainnet),
          ...rangeOf("TESTNET", testnet),
          TESTNET_RPC_URL: servers[1].url,
          CRYPTOPUNKS_ADDRESSES: FIRST_PUNKS,
        },
      }),
    );
    await indexer.waitUntilLive(mainnet.last);
    await indexer.waitUntilLive(testnet.last, { network: "testnet" });
    for (const head of mainnet.laterHeads ?? []) {
      servers[0].setHead(head);
      await indexer.waitUntilLive(head);
    }
    await indexer.stop();
    return [await readTables(database.url), await readTables(database.url, { network: "testnet" })];
  }

  let history: OnchainTables;
  let live: OnchainTables;
  let punks: OnchainTables;
  let optimism: OnchainTables;

  beforeAll(async () => {
    const blocks = readBlocks();
    /** Far enough behind the head to be final: history. */
    const past: Source = {
      blocks: blocks.filter(({ block }) => PAST_BLOCKS.includes(Number(block.number))),
      first: PAST_BLOCKS[0]!,
      last: PAST_BLOCKS.at(-1)!,
      head: PAST_BLOCKS.at(-1)! + MAINNET_FINALITY + 1,
      isEnded: true,
    };
    const all = (logs: BareLog[]): Source => {
      const served = blocksOf(logs);
      const last = Math.max(...logs.map(({ blockNumber }) => blockNumber));
      return { blocks: served, first: 0, last, head: last + MAINNET_FINALITY + 1 };
    };
    const [first, last] = [LIVE_BLOCKS[0]!, LIVE_BLOCKS.at(-1)!];
    const watched = {
      blocks,
      first: first - 10,
      last: first - 1,
      head: first - 1,
      laterHeads: [first, first + 2, last],
    };

    [[history, punks], [live, optimism]] = await Promise.all([
      index(past, all(readPunkLogs())),
      index(watched, all(readQuestLogs())),
    ]);
  });

  test("out of the past, the events of mainnet blocks are the expected ones", () => {
    const expected = expectedEvents((block) => PAST_BLOCKS.includes(block));
    expect(expected).toHaveLength(56);
    expect(history.events).toEqual(expected);
    expect(history.skipped).toEqual([]);
  });

  test("live, block by block through their own blooms, the events are the expected ones", () => {
    const expected = expectedEvents((block) => LIVE_BLOCKS.includes(block));
    expect(expected).toHaveLength(26);
    expect(live.events).toEqual(expected);
    expect(live.skipped).toEqual([]);
  });

  test("tokens have the standard of the expected events", () => {
    const tokens = [history, live].flatMap((tables) => tables.tokens);
    const standards = new Map(tokens.map((row) => [`${row.contract_address} ${row.token_id}`, row.standard]));
    for (const { contract_address, token_id, standard } of readExpected())
      expect(standards.get(`${contract_address} ${token_id}`)).toBe(standard);
  });

  test("every punk of the first market of 2017 has the owner that others found", () => {
    const expected = JSON.parse(readSample("a_activity/punks_v1/owners_at_3919720_derived.json")) as Record<
      string,
      Hex
    >;
    const owners = Object.fromEntries(punks.tokens.map(({ token_id, owner }) => [String(token_id), owner]));
    expect(punks.tokens).toHaveLength(10_000);
    expect(owners).toEqual(expected);
    // Sales name the buyer as seller there: ours have whoever had it before.
    const moved = punks.events.filter(({ event_type }) => event_type === "transfer");
    expect(moved).toHaveLength(209 + 96);
    expect(moved.filter(({ from_address, to_address }) => from_address === to_address).length).toBeLessThan(96);
  });

  test("every token of a collection on Optimism has the owner that its transfers leave", () => {
    const lines = readSample("a_activity/op_quest/owners_cid6357_derived.csv").trim().split("\n").slice(1);
    const expected = new Map(lines.map((line) => line.split(",")).map(([id, owner]) => [id, owner?.toLowerCase()]));
    expect(new Map(optimism.tokens.map(({ token_id, owner }) => [String(token_id), owner]))).toEqual(expected);
  });
});

function readBlocks(): ServedBlock[] {
  const files = readdirSync(samplePath("a_activity/blocks")).filter((name) => name.endsWith(".json.gz"));
  return files.map((name) => {
    const { block, receipts } = JSON.parse(readCompressed(`a_activity/blocks/${name}`)) as {
      block: ServedBlock["block"];
      receipts: { logs: RawLog[] }[];
    };
    // Whoever counts from a random number has more than 31 bits. Nobody reads it, and nobody may stumble.
    for (const transaction of block.transactions) transaction.nonce = "0x1ffffffff";
    return { block, logs: receipts.flatMap(({ logs }) => logs) };
  });
}

function readExpected(): ExpectedEvent[] {
  return readdirSync(samplePath("a_activity/blocks"))
    .filter((name) => name.endsWith(".nft_events.ndjson"))
    .flatMap((name) => readSampleLines<ExpectedEvent>(`a_activity/blocks/${name}`));
}

/** The expected events of some blocks in the order of the chain, as rows of the table. */
function expectedEvents(isWanted: (block: number) => boolean): EventRow[] {
  return readExpected()
    .filter(({ block_number }) => isWanted(block_number))
    .map((event) => ({
      block_number: event.block_number,
      log_index: event.log_index,
      batch_index: event.batch_index ?? 0,
      timestamp: event.timestamp,
      event_type: event.from === zeroAddress ? "mint" : event.to === zeroAddress ? "burn" : "transfer",
      contract_address: event.contract_address,
      token_id: BigInt(event.token_id),
      from_address: event.from,
      to_address: event.to,
      quantity: BigInt(event.quantity),
      transaction_hash: event.transaction_hash,
    }))
    .toSorted((a, b) => a.block_number - b.block_number || a.log_index - b.log_index || a.batch_index - b.batch_index);
}

/** The first market's events as the logs that they were. */
function readPunkLogs(): BareLog[] {
  type Event = Record<"transactionHash" | "to" | "from" | "fromAddress" | "toAddress", Hex> & {
    kind: string;
    punkIndex: string;
    value: string;
  };
  const lines = readCompressed("a_activity/punks_v1/events_until_3919720.ndjson.gz").trim().split("\n");
  return lines
    .map((line) => JSON.parse(line) as Event)
    .flatMap((event) => {
      const punk = BigInt(event.punkIndex);
      const log = {
        Assign: () => logOf("Assign(address,uint256)", [event.to], words(punk)),
        PunkTransfer: () => logOf("PunkTransfer(address,address,uint256)", [event.from, event.to], words(punk)),
        PunkBought: () => {
          const parties = [punk, event.fromAddress, event.toAddress];
          return logOf("PunkBought(uint256,uint256,address,address)", parties, words(BigInt(event.value)));
        },
      }[event.kind];
      return log ? [{ address: FIRST_PUNKS, transactionHash: event.transactionHash, ...log() }] : [];
    })
    .map(inBlocks);
}

function readQuestLogs(): BareLog[] {
  const lines = readCompressed("a_activity/op_quest/transfers_cid6357.csv.gz").trim().split("\n").slice(1);
  return lines
    .map((line) => {
      const [, , from, to, tokenId, transactionHash] = line.split(",") as [string, string, Hex, Hex, string, Hex];
      return { address: OP_QUEST, transactionHash, ...transferLog(from, to, BigInt(tokenId)) };
    })
    .map(inBlocks);
}

/** In the order of the chain, a hundred in a block: the blocks that they were in are not at hand. */
function inBlocks(log: Pick<BareLog, "address" | "transactionHash" | "topics" | "data">, index: number): BareLog {
  const blockNumber = 1 + Math.floor(index / 100);
  return { ...log, blockNumber, logIndex: index % 100, timestamp: 1_600_000_000 + blockNumber };
}

function readCompressed(path: string): string {
  return gunzipSync(readFileSync(samplePath(path))).toString("utf8");
}
