import * as fc from "fast-check";
import type { Hex } from "viem";
import { expect, test } from "vitest";
import { readConfig } from "../config.ts";
import { listSources } from "../sources.ts";
import { createMatcher, type LogFilter, missingOf, normalize, otherNotesOf } from "./wanted.ts";
import { filterOfSources } from "./source-filter.ts";

const address = fc.constantFrom<Hex>("0x0a", "0x0b", "0x0c");
const topic = fc.constantFrom<Hex>("0x01", "0x02", "0x03");
const filter: fc.Arbitrary<LogFilter> = fc.array(
  fc.record({
    addresses: fc.oneof(fc.constant("*" as const), fc.array(address, { maxLength: 3 })),
    topics: fc.array(topic, { maxLength: 3 }),
    minTopics: fc.constantFrom(1, 4),
    ofTransaction: fc.constantFrom("" as const, "sender" as const),
  }),
  { maxLength: 4 },
);
const everyLog = (["0x0a", "0x0b", "0x0c", "0x0d"] as Hex[]).flatMap((contract) =>
  (["0x01", "0x02", "0x03", "0x04"] as Hex[]).flatMap((first) =>
    [1, 3, 4].map((count) => [contract, first, count] as const),
  ),
);

test("a filter says the same in its normal form, whatever its order", () => {
  fc.assert(
    fc.property(filter, (wanted) => {
      const normal = normalize(wanted);
      expect(everyLog.map((log) => createMatcher(normal)(...log))).toEqual(
        everyLog.map((log) => createMatcher(wanted)(...log)),
      );
      expect(JSON.stringify(normalize(wanted.toReversed()))).toBe(JSON.stringify(normal));
    }),
  );
});

test("what is kept and what is missing are together what is wanted", () => {
  fc.assert(
    fc.property(filter, fc.array(filter, { maxLength: 3 }), (wanted, kept) => {
      const missing = missingOf(normalize(wanted), kept);
      const isHad = [...kept, missing].map(createMatcher);
      const isWanted = createMatcher(wanted);
      const lost = everyLog.filter((log) => isWanted(...log) && !isHad.some((has) => has(...log)));
      expect(lost).toEqual([]);
      // And once that is kept, nothing is missing.
      expect(missingOf(wanted, [...kept, missing])).toEqual([]);
    }),
  );
});

test("what is kept of all contracts is kept of each", () => {
  const of = (addresses: Hex[] | "*"): LogFilter => [{ addresses, topics: ["0x01"], minTopics: 1, ofTransaction: "" }];
  expect(missingOf(of(["0x0a"]), [of("*")])).toEqual([]);
  expect(missingOf(of("*"), [of(["0x0a"])])).toEqual(of("*"));
});

test("what another version kept with notes of its own is missing where other notes are wanted", () => {
  const sold = (ofTransaction: string): LogFilter => [
    { addresses: ["0x0a"], topics: ["0x01"], minTopics: 1, ofTransaction: ofTransaction as "" },
  ];
  const paid = sold("wyvern payment");
  expect(missingOf(paid, [sold("a note of before")])).toEqual(paid);
  expect(missingOf(paid, [sold("sender")])).toEqual(paid);
  expect(missingOf(paid, [sold("a note of before"), paid])).toEqual([]);
  expect(missingOf(sold("sender"), [sold("a note of before")])).toEqual([]);
  // Notes that both have are not among them.
  expect(otherNotesOf([...paid, ...sold("sender"), ...sold("a note of before")], paid)).toEqual(
    sold("a note of before"),
  );
});

test("a network's sources ask for whole transfers of all contracts and for exchanges by address", () => {
  const config = readConfig({ MAINNET_RPC_URL: "http://127.0.0.1:1" });
  const [whole, ...others] = filterOfSources(listSources(config, { network: "mainnet", chainId: 1 }));
  expect(whole).toMatchObject({ addresses: "*", ofTransaction: "" });
  const transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
  const asking = [whole!, ...others].filter(({ topics }) => topics.includes(transfer));
  expect(asking.map(({ addresses, minTopics }) => [addresses, minTopics])).toContainEqual(["*", 4]);
  expect(asking.filter(({ addresses }) => addresses === "*")).toHaveLength(1);
});
