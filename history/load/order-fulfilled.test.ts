import * as fc from "fast-check";
import { encodeAbiParameters, type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { readConfig } from "../../config.ts";
import { listSources } from "../../sources.ts";
import { chunkOf } from "../../test/log-columns.ts";
import type { ChainLog } from "../chain-log.ts";
import { createDispatch } from "./dispatch.ts";
import { readOrderFulfilled } from "./order-fulfilled.ts";
import { createAddresses } from "../word.ts";
import { fulfilled } from "../../test/order-fulfilled.ts";

const SEAPORT: Hex = "0x0000000000000068f116a894984e2db1123eb395";
const ORDER_FULFILLED: Hex = "0x9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31";
const config = readConfig({ MAINNET_RPC_URL: "http://a" });
const [match] = createDispatch(listSources(config, { network: "mainnet", chainId: 31337 }))(ORDER_FULFILLED, SEAPORT);

const hex = (size: number) =>
  fc.uint8Array({ minLength: size, maxLength: size }).map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);
const number = fc.oneof(
  fc.bigInt({ min: 0n, max: 5n }),
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc.constantFrom(2n ** 32n, 2n ** 53n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 255n),
);
const spent = { itemType: fc.integer({ min: 0, max: 255 }), token: hex(20), identifier: number, amount: number };
const data = fc
  .tuple(
    hex(32),
    hex(20),
    fc.array(fc.record(spent), { maxLength: 3 }),
    fc.array(fc.record({ ...spent, recipient: hex(20) }), { maxLength: 3 }),
  )
  .map((args) => encodeAbiParameters(fulfilled, args));
const topics = fc.array(hex(32), { minLength: 2, maxLength: 2 }).map((indexed): Hex[] => [ORDER_FULFILLED, ...indexed]);

const columnsOf = (topics: Hex[], data: Hex) => {
  const hash = numberToHex(1, { size: 32 });
  const place = { blockNumber: 1, timestamp: 1, blockHash: hash, transactionHash: hash, logIndex: 0 };
  const log: ChainLog = { ...place, address: SEAPORT, topics, data, sender: null, note: null };
  return { log, logs: chunkOf([log], { fromBlock: 1, toBlock: 1 }).logs };
};

test("what Seaport writes is read as Ponder decodes it", () => {
  fc.assert(
    fc.property(topics, data, (topics, data) => {
      const { log, logs } = columnsOf(topics, data);
      expect([readOrderFulfilled(logs, 0, createAddresses(logs))]).toEqual(match!.decode(log));
    }),
    { numRuns: 2_000 },
  );
});

test("what is broken is left to Ponder's decoder, or read as that does", () => {
  const counts = { read: 0, left: 0, undecodable: 0 };
  const word = fc.oneof(
    fc.integer({ min: 0, max: 40 }).map((place) => BigInt(place * 32)),
    number,
    fc.constantFrom(2n ** 256n - 1n),
  );
  // A word is changed, and bytes are cut off or added.
  const damage = fc.tuple(fc.nat({ max: 40 }), word, fc.constantFrom(0, 0, 0, 2, 62, 64, -64, -2));
  fc.assert(
    fc.property(fc.array(hex(32), { maxLength: 3 }), data, damage, (indexed, data, [place, value, change]) => {
      const text = data.slice(2);
      const at = (place * 64) % text.length;
      const changed = text.slice(0, at) + numberToHex(value, { size: 32 }).slice(2) + text.slice(at + 64);
      const end = changed.length + change;
      const { log, logs } = columnsOf([ORDER_FULFILLED, ...indexed], `0x${changed.slice(0, end).padEnd(end, "0")}`);
      const read = readOrderFulfilled(logs, 0, createAddresses(logs));
      const decoded = match!.decode(log);
      counts[read ? "read" : decoded ? "left" : "undecodable"]++;
      expect(read ? [read] : decoded).toEqual(decoded);
    }),
    { numRuns: 5_000 },
  );
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(100);
});
