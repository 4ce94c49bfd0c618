import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { type Hex, numberToHex, zeroAddress, zeroHash } from "viem";
import { afterAll, expect, test } from "vitest";
import { applyMovement, holdersOf, type Movement, type OwnershipRow, type TokenRow } from "../../src/movement.ts";
import { readCopyRows } from "../../test/copy-rows.ts";
import { ownershipRows, tokenRows } from "./fold-rows.ts";
import { foldPartition } from "./fold-partition.ts";
import {
  IS_ERC1155,
  IS_FROM_ZERO,
  IS_TO_ZERO,
  createMovementView,
  createRecordReader,
  readMovements,
} from "./movement-record.ts";
import { tableShapes } from "../load/onchain-schema.ts";
import { closeSpill, markSpill, openSpill, readPartition, type Spill, SpillError, spillMovement } from "./spill.ts";

const directory = mkdtempSync(join(tmpdir(), "nft-fold-test-"));
afterAll(() => rmSync(directory, { recursive: true }));

const contracts: Hex[] = [`0x${"71".repeat(20)}`, `0x${"15".repeat(20)}`, `0x${"16".repeat(20)}`];
const accounts: Hex[] = [zeroAddress, ...["aa", "bb", "cc"].map((byte): Hex => `0x${byte.repeat(20)}`)];

const amount = fc.oneof(
  fc.bigInt({ min: 0n, max: 9n }),
  fc.constantFrom(2n ** 48n - 1n, 2n ** 48n, 2n ** 53n - 1n, 2n ** 53n, 10_000n, 100_000_000n, 2n ** 256n - 1n),
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
);
const movement: fc.Arbitrary<Movement> = fc
  .record({
    contract: fc.integer({ min: 0, max: 2 }),
    tokenId: fc.oneof(fc.bigInt({ min: 0n, max: 3n }), fc.constantFrom(256n, 2n ** 248n, 2n ** 256n - 1n)),
    from: fc.constantFrom(...accounts),
    to: fc.constantFrom(...accounts),
    quantity: amount,
    blockNumber: fc.integer({ min: 0, max: 2 ** 40 }),
    timestamp: fc.integer({ min: 0, max: 2 ** 40 }),
    logIndex: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    batchIndex: fc.integer({ min: 0, max: 9_999 }),
    transaction: fc.integer({ min: 0, max: 2 }),
  })
  .map(({ contract, transaction, ...rest }) => ({
    ...rest,
    // The first contract is ERC-721, the others are ERC-1155.
    standard: contract === 0 ? "ERC721" : "ERC1155",
    quantity: contract === 0 ? 1n : rest.quantity,
    contractAddress: contracts[contract]!,
    blockHash: "0x",
    transactionHash: numberToHex(transaction, { size: 32 }),
  }));

/** The rows that `applyMovement` makes. */
function compute(movements: readonly Movement[]) {
  const tokens = new Map<string, TokenRow>();
  const ownerships = new Map<string, OwnershipRow>();
  for (const move of movements) {
    const token = `${move.contractAddress} ${move.tokenId}`;
    const { sender, receiver } = holdersOf(move);
    const rowOf = (owner: Hex | undefined) => (owner && ownerships.get(`${token} ${owner}`)) || null;
    const before = { token: tokens.get(token) ?? null, sender: rowOf(sender), receiver: rowOf(receiver) };
    const after = applyMovement(before, move);
    if (typeof after === "string") throw new Error(after);
    if (after.token) tokens.set(token, after.token);
    for (const row of [after.sender, after.receiver]) if (row) ownerships.set(`${token} ${row.owner}`, row);
  }
  return { tokens: [...tokens.values()], ownerships: [...ownerships.values()] };
}

const bytes = (hex: Hex, size: number) => Buffer.from(hex.slice(2).padStart(size * 2, "0"), "hex");

function put(spill: Spill, move: Movement, place: number): void {
  const view = createMovementView();
  const [id, quantity] = [bytes(numberToHex(move.tokenId), 32), bytes(numberToHex(move.quantity), 32)];
  Object.assign(view, {
    flags:
      (move.standard === "ERC1155" ? IS_ERC1155 : 0) |
      (move.from === zeroAddress ? IS_FROM_ZERO : 0) |
      (move.to === zeroAddress ? IS_TO_ZERO : 0),
    contract: contracts.indexOf(move.contractAddress),
    idBytes: id,
    idEnd: 32,
    fromBytes: bytes(move.from, 20),
    toBytes: bytes(move.to, 20),
    quantityBytes: quantity,
    quantityEnd: 32,
    place,
    blockNumber: move.blockNumber,
    timestamp: move.timestamp,
    hashBytes: bytes(move.transactionHash, 32),
    logIndex: move.logIndex,
    batchIndex: move.batchIndex,
  });
  spillMovement(spill, 0, view, { bytes: bytes(move.contractAddress, 20), start: 0 });
}

let spillCount = 0;

function fold(movements: readonly Movement[], foldBytes: number) {
  const spill = openSpill(join(directory, String(++spillCount)), { partitions: 1 });
  for (const [place, move] of movements.entries()) put(spill, move, place);
  markSpill(spill);
  const rows = { tokens: [] as unknown[], ownerships: [] as unknown[] };
  for (const one of foldPartition(spill, 0, { isWanted: () => true, foldBytes })) {
    for (const { bytes, length } of tokenRows(one, 2))
      rows.tokens.push(...readCopyRows(bytes.subarray(0, length), tableShapes.get("token")!.columns));
    for (const { bytes, length } of ownershipRows(one, 2))
      rows.ownerships.push(...readCopyRows(bytes.subarray(0, length), tableShapes.get("ownership")!.columns));
  }
  closeSpill(spill);
  rmSync(spill.directory, { recursive: true });
  return rows;
}

const textsOf = (rows: readonly unknown[]) =>
  rows.map((row) => JSON.stringify(row, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value)));

test("a fold of any movements, in one go or in parts, leaves the rows that the core leaves", () => {
  fc.assert(
    fc.property(
      fc.array(movement, { maxLength: 60 }),
      fc.constantFrom(2 ** 20, 2_000, 500, 100),
      (movements, foldBytes) => {
        const [found, expected] = [fold(movements, foldBytes), compute(movements)];
        expect(textsOf(found.tokens).toSorted()).toEqual(textsOf(expected.tokens).toSorted());
        expect(textsOf(found.ownerships).toSorted()).toEqual(textsOf(expected.ownerships).toSorted());
      },
    ),
    { numRuns: 1_000 },
  );
});

test("movements of many tokens and holders are folded whatever room their tables need", () => {
  const movements = Array.from({ length: 20_000 }, (_, index): Movement => {
    const random = (index * 2_654_435_761) % 2 ** 32;
    const account = (number: number): Hex => numberToHex(number, { size: 20 });
    return {
      standard: index % 3 === 0 ? "ERC721" : "ERC1155",
      contractAddress: contracts[index % 3]!,
      tokenId: BigInt(random % 5_000),
      from: account(random % 7),
      to: account((random >>> 3) % 6_000),
      quantity: index % 3 === 0 ? 1n : BigInt(random % 11),
      blockNumber: index >> 4,
      timestamp: index,
      logIndex: index,
      batchIndex: 0,
      blockHash: "0x",
      transactionHash: numberToHex(index >> 1, { size: 32 }),
    };
  });
  const expected = compute(movements);
  for (const foldBytes of [2 ** 24, 2 ** 16]) {
    const found = fold(movements, foldBytes);
    expect(textsOf(found.tokens).toSorted()).toEqual(textsOf(expected.tokens).toSorted());
    expect(textsOf(found.ownerships).toSorted()).toEqual(textsOf(expected.ownerships).toSorted());
  }
});

test("neither tokens nor holders are taken for others whose place in the table is near", () => {
  const moved = (tokenId: bigint, to: Hex, part: Partial<Movement> = {}): Movement => ({
    standard: "ERC721",
    contractAddress: contracts[0]!,
    tokenId,
    from: zeroAddress,
    to,
    quantity: 1n,
    blockNumber: 1,
    timestamp: 1,
    logIndex: 1,
    batchIndex: 0,
    blockHash: "0x",
    transactionHash: zeroHash,
    ...part,
  });
  const [anne, ben] = accounts.slice(1) as [Hex, Hex];
  for (let round = 0; round < 10; round++) {
    // So many that the hash table is half full. The ids end like a shorter id, and one account holds all tokens.
    const ids = Array.from({ length: 900 }, (_, index) => BigInt(round * 1_000 + index + 1) * 256n + 1n);
    const units = { standard: "ERC1155", contractAddress: contracts[1]! } as const;
    const movements = [
      ...ids.map((id) => moved(id, anne)),
      moved(1n, ben),
      moved(0n, ben),
      ...ids.map((id, index) => moved(id, anne, { ...units, quantity: BigInt(index + 1) })),
    ];
    const [found, expected] = [fold(movements, 2 ** 24), compute(movements)];
    expect(textsOf(found.tokens).toSorted()).toEqual(textsOf(expected.tokens).toSorted());
    expect(textsOf(found.ownerships).toSorted()).toEqual(textsOf(expected.ownerships).toSorted());
  }
});

test("balances are exact where numbers end to be", () => {
  const most = 2n ** 53n - 1n;
  const [anne] = accounts.slice(1) as [Hex];
  const [first] = fc.sample(movement, { numRuns: 1, seed: 1 }) as [Movement];
  const given = { ...first, standard: "ERC1155" as const, contractAddress: contracts[1]!, from: zeroAddress, to: anne };
  for (const quantities of [
    [most, 1n],
    [most, 2n],
    [most - 1n, 1n],
    [most, 2n, 3n],
  ]) {
    const movements = quantities.map((quantity) => ({ ...given, quantity }));
    expect(textsOf(fold(movements, 2 ** 20).ownerships)).toEqual(textsOf(compute(movements).ownerships));
  }
});

test("movements are read the same wherever their bytes are cut", () => {
  const movements = fc.sample(movement, { numRuns: 12, seed: 1 });
  const spill = openSpill(join(directory, "cut"), { partitions: 1 });
  for (const [place, move] of movements.entries()) put(spill, move, place);
  markSpill(spill);
  let whole: Buffer = Buffer.alloc(0);
  readPartition(spill, 0, (piece) => (whole = Buffer.from(piece)).length);
  closeSpill(spill);
  const readIn = (...pieces: Buffer[]) => {
    const reader = createRecordReader();
    const read: string[] = [];
    let rest: Buffer = Buffer.alloc(0);
    for (const piece of pieces) {
      const bytes = Buffer.concat([rest, piece]);
      const used = readMovements(reader, bytes, () => {
        const { view } = reader;
        const part = (of: Buffer, start: number, end: number) => of.toString("hex", start, end);
        const has = (flag: number) => (view.flags & flag) !== 0;
        read.push(
          [
            reader.contracts[view.contract]!.toString("hex"),
            part(view.idBytes, view.idStart, view.idEnd),
            has(IS_TO_ZERO) ? "" : part(view.toBytes, view.toStart, view.toStart + 20),
            ...(has(IS_ERC1155) || has(IS_FROM_ZERO)
              ? [view.blockNumber, view.timestamp, part(view.hashBytes, view.hashStart, view.hashStart + 32)]
              : []),
            ...(has(IS_ERC1155)
              ? [
                  has(IS_FROM_ZERO) ? "" : part(view.fromBytes, view.fromStart, view.fromStart + 20),
                  part(view.quantityBytes, view.quantityStart, view.quantityEnd),
                  view.logIndex,
                  view.batchIndex,
                ]
              : []),
          ].join(" "),
        );
      });
      rest = Buffer.from(bytes.subarray(used));
      // Overwrites the piece, as if the next one were read into the same memory.
      piece.fill(0xff);
      bytes.fill(0xff);
    }
    expect(rest).toHaveLength(0);
    return read;
  };
  const expected = readIn(Buffer.from(whole));
  expect(expected).toHaveLength(12);
  for (let cut = 1; cut < whole.length; cut++)
    expect(readIn(Buffer.from(whole.subarray(0, cut)), Buffer.from(whole.subarray(cut)))).toEqual(expected);
});

test("what is behind the mark is forgotten, and what isn't there any more is noticed", () => {
  const place = join(directory, "marks");
  const [first, second] = fc.sample(movement, { numRuns: 2, seed: 1 }) as [Movement, Movement];
  const spill = openSpill(place, { partitions: 1 });
  put(spill, first, 0);
  const marks = markSpill(spill);
  put(spill, second, 1);
  markSpill(spill);
  closeSpill(spill);

  const again = openSpill(place, { partitions: 1, marks });
  const lengths: number[] = [];
  readPartition(again, 0, (piece) => lengths.push(piece.length) && piece.length);
  expect(lengths).toEqual([marks[0]!.size]);
  closeSpill(again);

  const [mark] = marks as [(typeof marks)[0]];
  expect(() => openSpill(place, { partitions: 1, marks: [{ ...mark, size: mark.size + 1 }] })).toThrow(SpillError);
  const damaged = openSpill(place, { partitions: 1, marks: [{ ...mark, checksum: mark.checksum ^ 1 }] });
  expect(() => readPartition(damaged, 0, (piece) => piece.length)).toThrow(SpillError);
  closeSpill(damaged);
  rmSync(place, { recursive: true });
  expect(() => openSpill(place, { partitions: 1, marks })).toThrow(SpillError);
});
