import * as fc from "fast-check";
import { encodeAbiParameters, type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { readConfig } from "../config.ts";
import type { ChainLog } from "../history/chain-log.ts";
import { listSources } from "../sources.ts";
import { computeTables } from "../test/log-oracle.ts";
import { applyLogs, createTables } from "../test/memory-store.ts";
import { createRandom, randomLogs, randomPunkLogs } from "../test/random-logs.ts";
import { logOf, type LogToWrite, word, words } from "../test/raw-log.ts";
import type { TableName } from "./store.ts";

const account = (byte: string): Hex => `0x${byte.repeat(20)}`;
const [ANNE, BEN, CLEO, DORA] = ["aa", "bb", "cc", "dd"].map(account) as [Hex, Hex, Hex, Hex];
const [CRANES, PLATES, DRAFTS, PUNKS] = ["71", "15", "d7", "99"].map(account) as [Hex, Hex, Hex, Hex];

const config = readConfig({ MAINNET_RPC_URL: "http://localhost:1", CRYPTOPUNKS_ADDRESSES: PUNKS });
const sources = listSources(config, { network: "mainnet", chainId: 31337 }).map((source) =>
  source.name === "Erc721Draft" ? { ...source, addresses: [DRAFTS] } : source,
);

type Written = LogToWrite & { address: Hex };

/** Rows of these tables after these logs, those of a block one after the other. */
async function rowsAfter(blocks: Written[][], ...names: TableName[]) {
  const logs = blocks.flatMap((written, blockNumber) =>
    written.map((log, logIndex): ChainLog => {
      const hash = word(BigInt(blockNumber));
      const place = { blockNumber, timestamp: blockNumber * 10, blockHash: hash, transactionHash: hash, logIndex };
      return { ...log, ...place, sender: ANNE, note: null };
    }),
  );
  const tables = createTables();
  await applyLogs(tables, logs, { sources });
  const rows = names.map((name) => [...tables.get(name)!.values()].map(textOf).toSorted());
  return { logs, rows };
}

/** A row without what it doesn't have. */
const textOf = (row: object) =>
  Object.entries(row)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${value}`)
    .toSorted()
    .join(", ");

test("any logs of tokens leave the rows that another reading of the same words leaves", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const random = createRandom(seed);
      const accounts = [ANNE, BEN, CLEO, DORA];
      const blocks = Array.from({ length: 20 }, () => [
        ...randomLogs(random, { accounts, count: 3 }).map((log) => ({
          ...log,
          address: random() < 0.5 ? CRANES : PLATES,
        })),
        ...randomPunkLogs(random, { accounts, count: 1 }).map((log) => ({ ...log, address: PUNKS })),
      ]);
      const { logs, rows } = await rowsAfter(
        blocks,
        "tokenEvent",
        "token",
        "ownership",
        "contract",
        "skippedLog",
        "metadataUpdate",
      );
      const raw = logs.map(({ blockNumber, logIndex, ...log }) => ({
        ...log,
        blockNumber: numberToHex(blockNumber),
        logIndex: numberToHex(logIndex),
      }));
      const timestamps = new Map(logs.map(({ blockNumber, timestamp }) => [blockNumber, timestamp]));
      const expected = computeTables(raw, { timestamps, punkMarkets: [PUNKS] });
      const [events, ...others] = rows;
      expect(events!.filter((text) => !text.includes("event_type sale"))).toEqual(
        expected.events.map(textOf).toSorted(),
      );
      const { tokens, ownerships, contracts, skipped, updates } = expected;
      expect(others).toEqual(
        [tokens, ownerships, contracts, skipped, updates].map((list) => list.map(textOf).toSorted()),
      );
    }),
    { numRuns: 50 },
  );
});

test("an update of metadata is read whether its ids are indexed or not, and once", async () => {
  const update = (indexed: bigint[], data: Hex) => logOf("MetadataUpdate(uint256)", indexed, data);
  const range = (indexed: bigint[], data: Hex) => logOf("BatchMetadataUpdate(uint256,uint256)", indexed, data);
  const logs = [
    update([], words(7n)),
    update([7n], "0x"),
    update([7n], words(8n)),
    range([], words(3n, 5n)),
    range([3n, 5n], "0x"),
    range([3n, 5n], words(1n, 2n)),
    range([5n, 3n], "0x"),
    // Nobody knows which of the two this one indexes.
    range([3n], words(5n)),
  ];
  const { rows } = await rowsAfter([logs.map((log) => ({ ...log, address: CRANES }))], "metadataUpdate");
  const row = (place: number, from: number, to: number) =>
    `block_number 0, contract_address ${CRANES}, from_token_id ${from}, log_index ${place}, to_token_id ${to}`;
  expect(rows[0]!.toSorted()).toEqual(
    [row(0, 7, 7), row(1, 7, 7), row(2, 7, 7), row(3, 3, 5), row(4, 3, 5), row(5, 3, 5)].toSorted(),
  );
});

test("an update of a contract's own metadata is read in each form that contracts write it in", async () => {
  const texts = (count: number) =>
    encodeAbiParameters(
      Array.from({ length: count }, () => ({ type: "string" })),
      ["ipfs://one", "Another"].slice(0, count),
    );
  const logs = [
    logOf("ContractURIUpdated()", []),
    logOf("ContractURIUpdated(string,string)", [], texts(2)),
    logOf("ContractURIUpdated(string)", [], texts(1)),
    logOf("ContractMetadataUpdated(address,string,string)", [ANNE], texts(2)),
  ];
  const { rows } = await rowsAfter([logs.map((log) => ({ ...log, address: CRANES }))], "metadataUpdate");
  expect(rows[0]).toEqual(logs.map((_, place) => `block_number 0, contract_address ${CRANES}, log_index ${place}`));
});

test("a Transfer is read by how many of its words are indexed, whatever data it has beside them", async () => {
  const parts = [ANNE, BEN, 7n] as const;
  const transfers = [0, 1, 2, 3].flatMap((indexed) =>
    [CRANES, DRAFTS].map((address) => ({
      address,
      ...logOf(
        "Transfer(address,address,uint256)",
        parts.slice(0, indexed),
        words(...parts.slice(indexed), 8n, 9n, 1n),
      ),
    })),
  );
  const read = async (one: Written) => (await rowsAfter([[one]], "contract", "token")).rows.flat();
  const row = (address: Hex, isFirst: boolean) => [
    `block_number 0, contract_address ${address}, contract_type ERC721, is_first_generation ${isFirst}, log_index 0`,
    `contract_address ${address}, owner ${BEN}, standard ERC721, token_id 7`,
  ];
  const found: string[][] = [];
  for (const one of transfers) found.push(await read(one));
  expect(found).toEqual([
    row(CRANES, true),
    row(DRAFTS, true),
    [],
    [],
    [],
    row(DRAFTS, true),
    row(CRANES, false),
    row(DRAFTS, false),
  ]);
});
