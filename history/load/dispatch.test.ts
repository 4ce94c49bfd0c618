import * as fc from "fast-check";
import { type AbiEvent, type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { erc1155Abi } from "../../abis/erc1155.ts";
import { X2Y2_ADDRESS } from "../../abis/x2y2.ts";
import { readConfig } from "../../config.ts";
import { listSources } from "../../sources.ts";
import { readBatch } from "../../src/batch.ts";
import type { ChainLog } from "../chain-log.ts";
import { createDispatch } from "./dispatch.ts";

const { decodeEventLog } = (await import(new URL("utils/decodeEventLog.js", import.meta.resolve("ponder")).href)) as {
  decodeEventLog: (options: { abiItem: AbiEvent; topics: Hex[]; data: Hex }) => unknown;
};

const PUNKS = "0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb";
const SOMEBODY: Hex = `0x${"12".repeat(20)}`;
const TRANSFER: Hex = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const TRANSFER_BATCH: Hex = "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb";
const EV_INVENTORY: Hex = "0x3cbb63f144840e5b1b0a38a7c19211d2e89de4d7c5faf8b2d3c1776c302d1d33";
const sourcesOf = (env: Record<string, string>) =>
  listSources(readConfig({ MAINNET_RPC_URL: "http://a", ...env }), { network: "mainnet", chainId: 31337 });
const dispatch = createDispatch(sourcesOf({}));

const logOf = (topics: Hex[], data: Hex): ChainLog => ({
  blockNumber: 1,
  timestamp: 1,
  blockHash: "0x",
  transactionHash: "0x",
  logIndex: 0,
  address: SOMEBODY,
  topics,
  data,
  sender: null,
  note: null,
});

const word = fc
  .oneof(
    fc.integer({ min: 0, max: 12 }).map((count) => BigInt(count * 32)),
    fc.bigInt({ min: 0n, max: 5n }),
    fc.constantFrom(1n, 63n, 2n ** 53n, 2n ** 64n, 2n ** 255n, 2n ** 256n - 1n),
  )
  .map((value) => numberToHex(value, { size: 32 }).slice(2));
const hostileData = fc
  .tuple(fc.array(word, { maxLength: 10 }), fc.constantFrom("", "", "", "00", "ab".repeat(31)))
  .map(([words, tail]): Hex => `0x${words.join("")}${tail}`);

test("a TransferBatch counts where its arrays can be read and Ponder delivers it", () => {
  let delivered = 0;
  const [, event] = erc1155Abi;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3 }), hostileData, (indexed, data) => {
      const topics = [TRANSFER_BATCH, ...Array.from({ length: indexed }, (): Hex => numberToHex(7, { size: 32 }))];
      const log = logOf(topics, data);
      const [match, ...others] = dispatch(TRANSFER_BATCH, SOMEBODY);
      expect(others).toEqual([]);
      const counts = match!.decode(log) !== undefined && readBatch(data) !== undefined;
      let isDelivered = true;
      try {
        decodeEventLog({ abiItem: structuredClone(event), topics, data });
      } catch {
        isDelivered = false;
      }
      expect(counts).toBe(isDelivered && readBatch(data) !== undefined);
      if (counts) delivered++;
    }),
    { numRuns: 20_000 },
  );
  expect(delivered).toBeGreaterThan(100);
});

test("a log goes to all sources that ask for it, in their order", () => {
  const namesOf = (topic: Hex, address: Hex) => dispatch(topic, address).map(({ name }) => name);
  expect(namesOf(TRANSFER, SOMEBODY)).toEqual(["Erc721:Transfer", "Erc721FirstGeneration:Transfer"]);
  expect(namesOf(TRANSFER, PUNKS)).toEqual([
    "Erc721:Transfer",
    "Erc721FirstGeneration:Transfer",
    "CryptoPunks:Transfer",
  ]);
  expect(namesOf(EV_INVENTORY, X2Y2_ADDRESS)).toEqual(["X2Y2:EvInventory"]);
  expect(namesOf(EV_INVENTORY, SOMEBODY)).toEqual([]);
  expect(namesOf(numberToHex(1, { size: 32 }), SOMEBODY)).toEqual([]);
  const listed = createDispatch(sourcesOf({ MAINNET_CONTRACTS: PUNKS }));
  expect(listed(TRANSFER, SOMEBODY)).toEqual([]);
  expect(listed(TRANSFER, PUNKS)).toHaveLength(3);
});

test("what breaks one log's decoding doesn't break the next one's", () => {
  const seaport = dispatch(
    "0x4b9f2d36e1b4c93de62cc077b00b1a91d84b6c31b4a14e012718dcca230689e7",
    "0x00000000000000adc04c56bf30ac9d3c0aaf14dc",
  );
  const [match] = seaport;
  const good: Hex = `0x${[32n, 1n, 5n].map((value) => numberToHex(value, { size: 32 }).slice(2)).join("")}`;
  const cut: Hex = `0x${[32n, 3n, 5n].map((value) => numberToHex(value, { size: 32 }).slice(2)).join("")}`;
  const read = (data: Hex) => match!.decode(logOf([TRANSFER], data));
  const expected = [{ orderHashes: [numberToHex(5, { size: 32 })] }];
  expect(read(good)).toEqual(expected);
  expect(read(cut)).toBeUndefined();
  expect(read(good)).toEqual(expected);
});
