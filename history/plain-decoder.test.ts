import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { type AbiEvent, type AbiParameter, encodeAbiParameters, type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { seaportAbi } from "../abis/seaport.ts";
import { readConfig } from "../config.ts";
import { listSources } from "../sources.ts";
import type { ChainLog } from "./chain-log.ts";
import { createPlainDecoder } from "./plain-decoder.ts";

const { decodeEventLog } = (await import(new URL("utils/decodeEventLog.js", import.meta.resolve("ponder")).href)) as {
  decodeEventLog: (options: { abiItem: AbiEvent; topics: readonly Hex[]; data: Hex }) => unknown;
};

const sources = listSources(readConfig({ MAINNET_RPC_URL: "http://a" }), { network: "mainnet", chainId: 1 });
const events = sources.flatMap(({ abi }) => abi.filter((item): item is AbiEvent => item.type === "event"));
const isPlain = (event: AbiEvent) => createPlainDecoder(event) !== undefined;

const hexOf = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value): Hex => `0x${Buffer.from(value).toString("hex")}`);

function valueOf({ type, ...input }: AbiParameter): fc.Arbitrary<unknown> {
  if (type.endsWith("[]")) return fc.array(valueOf({ ...input, type: type.slice(0, -2) }), { maxLength: 3 });
  if (type === "tuple") {
    const { components } = input as unknown as { components: { name: string; type: string }[] };
    return fc.record(Object.fromEntries(components.map((part) => [part.name, valueOf(part)])));
  }
  if (type === "address") return hexOf(20);
  if (type === "bytes32") return hexOf(32);
  if (type === "uint8") return fc.integer({ min: 0, max: 255 });
  return fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
}

const word = fc.oneof(
  fc.integer({ min: 0, max: 20 }).map((count) => BigInt(count * 32)),
  fc.constantFrom(0n, 1n, 2n, 255n, 256n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 160n, 2n ** 256n - 1n),
);

/** What is done to well-formed data: a word is replaced, words or digits are added, or what comes last is missing. */
const damage = fc.option(
  fc.oneof(
    fc.record({ at: fc.nat(30), word }),
    fc.record({ end: fc.constantFrom("00", "ab".repeat(32), "00".repeat(64)) }),
    fc.record({ cut: fc.constantFrom(2, 64, 128) }),
  ),
  { freq: 3 },
);

function harm(data: Hex, how: { at: number; word: bigint } | { end: string } | { cut: number } | null): Hex {
  if (!how) return data;
  if ("end" in how) return `${data}${how.end}`;
  if ("cut" in how) return data.length > how.cut + 2 ? (data.slice(0, -how.cut) as Hex) : data;
  const start = 2 + 64 * (how.at % Math.max(1, (data.length - 2) / 64));
  return `${data.slice(0, start)}${numberToHex(how.word, { size: 32 }).slice(2)}${data.slice(start + 64)}` as Hex;
}

test.for(events.filter(isPlain).map((event) => [event.name, event] as const))(
  "%s is decoded as Ponder does, or not at all",
  ([, event]) => {
    const decode = createPlainDecoder(event)!;
    const isIndexed = (input: AbiParameter) => "indexed" in input && input.indexed === true;
    const data = fc.tuple(...event.inputs.filter((input) => !isIndexed(input)).map(valueOf));
    const topics = fc.array(hexOf(32), { minLength: 2, maxLength: 3 });
    let decoded = 0;
    fc.assert(
      fc.property(data, topics, damage, (values, rest, how) => {
        const inputs = event.inputs.filter((input) => !isIndexed(input));
        const log = {
          topics: [`0x${"11".repeat(32)}`, ...rest],
          data: harm(encodeAbiParameters(inputs, values), how),
        } as unknown as ChainLog;
        const plain = decode(log);
        const isWhole = how === null && rest.length >= event.inputs.filter(isIndexed).length;
        expect(plain !== undefined || !isWhole).toBe(true);
        if (!plain) return true;
        decoded += 1;
        return isDeepStrictEqual(plain, decodeEventLog({ abiItem: structuredClone(event), ...log }));
      }),
      { numRuns: 300 },
    );
    expect(decoded).toBeGreaterThan(30);
  },
);

test("Seaport's fills are plain", () => {
  expect(seaportAbi.filter((item) => item.type === "event" && isPlain(item)).map(({ name }) => name)).toContain(
    "OrderFulfilled",
  );
});
