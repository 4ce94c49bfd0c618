import { type AbiEvent, type Hex, numberToHex, toEventSelector } from "viem";
import { describe, expect, test } from "vitest";
import { cryptopunksAbi } from "../../abis/cryptopunks.ts";
import { erc1155Abi } from "../../abis/erc1155.ts";
import { erc2309Abi } from "../../abis/erc2309.ts";
import { erc721Abi, erc721FirstGenerationAbi } from "../../abis/erc721.ts";
import { chunkOf } from "../../test/log-columns.ts";
import { batchLog, consecutiveLog, logOf, type LogToWrite, singleLog, transferLog, words } from "../../test/raw-log.ts";
import { findMovedOn, TOKEN_PLACES } from "./moved-on.ts";

const [ANNE, BEN, CRANES, PLATES] = [1, 2, 3, 4].map((number) => numberToHex(number, { size: 20 })) as [
  Hex,
  Hex,
  Hex,
  Hex,
];

/** Whether a token may move more than once in a transaction with these logs, by default all of one contract. */
const isMovedOn = (...logs: WrittenLog[]) => isMovedOnWith({}, ...logs);
type WrittenLog = LogToWrite & { address?: Hex };

function isMovedOnWith(options: { drafts?: ReadonlySet<Hex> }, ...logs: WrittenLog[]): boolean {
  const { logs: columns } = chunkOf(
    logs.map(({ address = CRANES, topics, data }, logIndex) => ({
      blockNumber: 1,
      timestamp: 1,
      blockHash: numberToHex(1, { size: 32 }),
      transactionHash: numberToHex(2, { size: 32 }),
      logIndex,
      address,
      topics,
      data,
      sender: null,
      note: null,
    })),
    { fromBlock: 1, toBlock: 1 },
  );
  expect(findMovedOn(columns, new Set())).toEqual(new Set());
  return findMovedOn(columns, new Set([0]), options).has(0);
}

test("the place of the token is where the interfaces have it", () => {
  const abis = [erc721Abi, erc721FirstGenerationAbi, erc2309Abi, erc1155Abi, cryptopunksAbi];
  const places = abis.flat().flatMap((event: AbiEvent) => {
    const id = event.inputs.find(({ name = "" }) => /^(tokenId|id|ids|fromTokenId|punkIndex)$/.test(name));
    const isMovement = event.inputs.some(({ name = "" }) => /^to(Address)?$/.test(name));
    if (!id || !isMovement || event.name === "PunkOffered") return [];
    const topics = event.inputs.filter(({ indexed }) => indexed);
    const data = event.inputs.filter(({ indexed }) => !indexed);
    const place = id.indexed
      ? 1 + topics.indexOf(id)
      : topics.length === 0
        ? 1 + data.indexOf(id)
        : data[0] === id
          ? "data"
          : "elsewhere";
    const isMany = /Batch|Consecutive/.test(event.name);
    return [[toEventSelector(event), isMany ? "any" : place] as const];
  });
  expect(Object.fromEntries(places)).toEqual(TOKEN_PLACES);
});

describe("a token may move on", () => {
  test("where two logs move it", () => {
    expect(isMovedOn(transferLog(ANNE, BEN, 1n))).toBe(false);
    expect(isMovedOn(transferLog(ANNE, BEN, 1n), transferLog(BEN, ANNE, 2n))).toBe(false);
    expect(isMovedOn(transferLog(ANNE, BEN, 1n), { ...transferLog(BEN, ANNE, 1n), address: PLATES })).toBe(false);
    expect(isMovedOn(transferLog(ANNE, BEN, 1n), transferLog(ANNE, BEN, 2n), transferLog(BEN, ANNE, 1n))).toBe(true);
    expect(isMovedOn(singleLog(ANNE, BEN, 1n, 5n), singleLog(BEN, ANNE, 2n, 5n))).toBe(false);
    expect(isMovedOn(singleLog(ANNE, BEN, 1n, 5n), singleLog(BEN, ANNE, 1n, 4n))).toBe(true);
  });

  test("where nothing of it is indexed", () => {
    const early = (tokenId: bigint) => logOf("Transfer(address,address,uint256)", [], words(ANNE, BEN, tokenId));
    expect(isMovedOn(early(1n), early(2n))).toBe(false);
    expect(isMovedOn(early(1n), early(1n))).toBe(true);
  });

  test("where two addresses of it are indexed, as in contracts that are named", () => {
    const draft = (tokenId: bigint) => logOf("Transfer(address,address,uint256)", [ANNE, BEN], words(tokenId));
    const drafts = new Set([PLATES]);
    const inPlates = (...ids: bigint[]) => ids.map((id) => ({ ...draft(id), address: PLATES }));
    expect(isMovedOnWith({ drafts }, ...inPlates(1n, 2n))).toBe(false);
    expect(isMovedOnWith({ drafts }, ...inPlates(1n, 1n))).toBe(true);
    expect(isMovedOnWith({ drafts }, draft(1n), draft(1n))).toBe(false);
  });

  test("where one of two logs moves several", () => {
    const batch = batchLog(ANNE, BEN, [
      [1n, 1n],
      [1n, 1n],
    ]);
    expect(isMovedOn(batch)).toBe(false);
    expect(isMovedOn(batch, { ...singleLog(BEN, ANNE, 1n, 1n), address: PLATES })).toBe(false);
    expect(isMovedOn(batch, singleLog(BEN, ANNE, 7n, 1n))).toBe(true);
    expect(isMovedOn(singleLog(BEN, ANNE, 7n, 1n), batch)).toBe(true);
    expect(isMovedOn(consecutiveLog(ANNE, BEN, 1n, 9n))).toBe(false);
    expect(isMovedOn(consecutiveLog(ANNE, BEN, 1n, 9n), transferLog(BEN, ANNE, 3n))).toBe(true);
  });

  test("in the market of punks, whose three events name it in three places", () => {
    const assigned = logOf("Assign(address,uint256)", [BEN], words(1n));
    const sent = (punk: bigint) => logOf("PunkTransfer(address,address,uint256)", [ANNE, BEN], words(punk));
    const bought = (punk: bigint) => logOf("PunkBought(uint256,uint256,address,address)", [punk, ANNE, BEN], words(5n));
    const noticed = logOf("Transfer(address,address,uint256)", [ANNE, BEN], words(1n));
    expect(isMovedOn(assigned, sent(2n), bought(3n), noticed, noticed)).toBe(false);
    expect(isMovedOn(assigned, sent(1n))).toBe(true);
    expect(isMovedOn(assigned, bought(1n))).toBe(true);
    expect(isMovedOn(bought(2n), sent(2n))).toBe(true);
  });

  test("but not money", () => {
    const paid = logOf("Transfer(address,address,uint256)", [ANNE, BEN], words(1n));
    expect(isMovedOn(paid, paid, logOf("Approval(address,address,uint256)", [ANNE, BEN, 1n]))).toBe(false);
  });
});
