import * as fc from "fast-check";
import { type Hex, zeroAddress } from "viem";
import { describe, expect, test } from "vitest";
import { MAX_BATCH_TOKENS, MAX_RANGE_TOKENS, MAX_UINT256 } from "./limits.ts";
import {
  applyMovement,
  holdersOf,
  type LogPlace,
  type Movement,
  movementsOfBatch,
  movementsOfRange,
  type OwnershipRow,
  type RowsAfter,
  type Standard,
  type TokenRow,
} from "./movement.ts";

const CONTRACT: Hex = `0x${"c0".repeat(20)}`;
const [ANNE, BEN, CLEO] = ["aa", "bb", "cc"].map((byte): Hex => `0x${byte.repeat(20)}`) as [Hex, Hex, Hex];
const ACCOUNTS = [ANNE, BEN, CLEO];

const placeAt = (logIndex: number): LogPlace => ({
  contractAddress: CONTRACT,
  blockNumber: 7,
  logIndex,
  timestamp: 1_700_000_000 + logIndex,
  blockHash: `0x${"b0".repeat(32)}`,
  transactionHash: `0x${logIndex.toString(16).padStart(64, "0")}`,
});

const PLACE = placeAt(3);

const movementOf = (part: Partial<Movement>): Movement => ({
  ...PLACE,
  standard: "ERC721",
  batchIndex: 0,
  tokenId: 1n,
  from: ANNE,
  to: BEN,
  quantity: 1n,
  ...part,
});

/** Rows in memory, deeply frozen so that a core which writes into what it was given fails. */
function createTables() {
  const tokens = new Map<bigint, TokenRow>();
  const ownerships = new Map<string, OwnershipRow>();
  const keyOf = (tokenId: bigint, owner: Hex) => `${tokenId}:${owner}`;
  const find = (tokenId: bigint, owner?: Hex) => (owner && ownerships.get(keyOf(tokenId, owner))) ?? null;

  return {
    tokens,
    ownerships,
    balanceOf: (tokenId: bigint, owner: Hex) => find(tokenId, owner)?.balance ?? 0n,
    apply: (movement: Movement): RowsAfter | string => {
      const { sender, receiver } = holdersOf(movement);
      const after = applyMovement(
        {
          token: tokens.get(movement.tokenId) ?? null,
          sender: find(movement.tokenId, sender),
          receiver: find(movement.tokenId, receiver),
        },
        Object.freeze(movement),
      );
      if (typeof after === "string") return after;
      if (after.token) tokens.set(movement.tokenId, Object.freeze(after.token));
      for (const row of [after.sender, after.receiver])
        if (row) ownerships.set(keyOf(row.token_id, row.owner), Object.freeze(row));
      return after;
    },
  };
}

const accountOrNobody = fc.constantFrom(...ACCOUNTS, zeroAddress);
const tokenId = fc.constantFrom(0n, 1n, MAX_UINT256);
const quantity = fc.oneof(fc.bigInt({ min: 0n, max: 5n }), fc.constantFrom(MAX_UINT256, MAX_UINT256 - 1n, 2n ** 255n));

/** Any movements whatever, each log at a place of its own. */
const anyMovements = (standard: Standard) =>
  fc
    .array(fc.record({ from: accountOrNobody, to: accountOrNobody, tokenId, quantity }), { maxLength: 40 })
    .map((list) =>
      list.map((part, index): Movement => ({
        ...placeAt(index),
        ...part,
        standard,
        batchIndex: 0,
        quantity: standard === "ERC1155" ? part.quantity : 1n,
      })),
    );

describe("a token with one owner", () => {
  test("is owned by the last receiver, whoever the logs name as sender", () => {
    fc.assert(
      fc.property(anyMovements("ERC721"), (movements) => {
        const tables = createTables();
        for (const movement of movements) tables.apply(movement);
        const lastReceivers = new Map(movements.map(({ tokenId, to }) => [tokenId, to]));
        expect(new Map([...tables.tokens].map(([id, { owner }]) => [id, owner]))).toEqual(lastReceivers);
        expect(tables.ownerships.size).toBe(0);
      }),
    );
  });

  test("remembers its first mint through burn and re-mint", () => {
    fc.assert(
      fc.property(anyMovements("ERC721"), (movements) => {
        const tables = createTables();
        for (const movement of movements) tables.apply(movement);
        for (const [id, row] of tables.tokens) {
          const mint = movements.find(({ from, tokenId }) => from === zeroAddress && tokenId === id);
          expect(row).toMatchObject({
            mint_address: mint?.to ?? null,
            mint_block_number: mint?.blockNumber ?? null,
            mint_timestamp: mint?.timestamp ?? null,
            mint_transaction_hash: mint?.transactionHash ?? null,
          });
        }
      }),
    );
  });

  test("has its row written by a transfer to another account only", () => {
    const tables = createTables();
    tables.apply(movementOf({ from: zeroAddress, to: ANNE }));
    expect(tables.apply(movementOf({ from: ANNE, to: ANNE }))).toEqual({ event: expect.anything() });
    expect(tables.apply(movementOf({ from: ANNE, to: BEN }))).toMatchObject({ token: { owner: BEN } });
  });
});

describe("a token with many owners", () => {
  test("has balances from 0 to 2^256 - 1, whatever the logs say", () => {
    fc.assert(
      fc.property(anyMovements("ERC1155"), (movements) => {
        const tables = createTables();
        const model = new Map<string, bigint>();
        for (const movement of movements) {
          tables.apply(movement);
          const { tokenId, from, to, quantity } = movement;
          const change = (account: Hex, delta: bigint) => {
            if (account === zeroAddress) return;
            const sum = (model.get(`${tokenId}:${account}`) ?? 0n) + delta;
            model.set(`${tokenId}:${account}`, sum < 0n ? 0n : sum > MAX_UINT256 ? MAX_UINT256 : sum);
          };
          change(from, -quantity);
          change(to, quantity);
        }
        for (const [key, balance] of model) expect(tables.ownerships.get(key)?.balance ?? 0n).toBe(balance);
        for (const [key, { balance }] of tables.ownerships) expect(balance).toBe(model.get(key));
        for (const { owner } of tables.tokens.values()) expect(owner).toBeNull();
      }),
    );
  });

  test("keeps the sum of what was minted and not burned, where nobody sends more than he has", () => {
    const wish = fc.record({ from: accountOrNobody, to: accountOrNobody, share: fc.integer({ min: 0, max: 100 }) });
    fc.assert(
      fc.property(fc.array(wish, { maxLength: 60 }), (wishes) => {
        const tables = createTables();
        const held = new Map<Hex, bigint>(ACCOUNTS.map((account) => [account, 0n]));
        let supply = 0n;
        for (const [index, { from, to, share }] of wishes.entries()) {
          if (from === to && from === zeroAddress) continue;
          const quantity = from === zeroAddress ? BigInt(share) : (held.get(from)! * BigInt(share)) / 100n;
          tables.apply({ ...movementOf({ from, to, quantity, standard: "ERC1155" }), ...placeAt(index) });
          if (from === zeroAddress) supply += quantity;
          else held.set(from, held.get(from)! - quantity);
          if (to === zeroAddress) supply -= quantity;
          else held.set(to, held.get(to)! + quantity);
        }
        for (const [account, balance] of held) expect(tables.balanceOf(1n, account)).toBe(balance);
        const sum = [...tables.ownerships.values()].reduce((total, { balance }) => total + balance, 0n);
        expect(sum).toBe(supply);
      }),
    );
  });

  test("says where each account last received units", () => {
    fc.assert(
      fc.property(anyMovements("ERC1155"), (movements) => {
        const tables = createTables();
        for (const movement of movements) tables.apply(movement);
        for (const row of tables.ownerships.values()) {
          const last = movements.findLast(
            ({ tokenId, to, quantity }) => tokenId === row.token_id && to === row.owner && quantity > 0n,
          );
          expect([row.received_block_number, row.received_log_index]).toEqual([last?.blockNumber, last?.logIndex]);
        }
      }),
    );
  });

  test("is unchanged by units sent to oneself", () => {
    const tables = createTables();
    tables.apply(movementOf({ standard: "ERC1155", from: zeroAddress, to: ANNE, quantity: 5n }));
    tables.apply(movementOf({ standard: "ERC1155", from: ANNE, to: ANNE, quantity: 3n }));
    expect(tables.balanceOf(1n, ANNE)).toBe(5n);
  });

  test("has the units that somebody sent without having them", () => {
    const tables = createTables();
    tables.apply(movementOf({ standard: "ERC1155", from: zeroAddress, to: ANNE, quantity: 2n }));
    tables.apply(movementOf({ standard: "ERC1155", from: ANNE, to: BEN, quantity: 7n }));
    tables.apply(movementOf({ standard: "ERC1155", from: CLEO, to: BEN, quantity: 1n }));
    expect(ACCOUNTS.map((account) => tables.balanceOf(1n, account))).toEqual([0n, 8n, 0n]);
    // Nobody gets a row for having had nothing.
    expect(tables.ownerships.size).toBe(2);
  });

  test("holds 2^256 - 1 of one account at most", () => {
    const tables = createTables();
    for (let times = 0; times < 3; times++)
      tables.apply(movementOf({ standard: "ERC1155", from: zeroAddress, to: ANNE, quantity: MAX_UINT256 }));
    expect(tables.balanceOf(1n, ANNE)).toBe(MAX_UINT256);
  });

  test("has a row and an event, and no holder, after zero units", () => {
    const tables = createTables();
    const after = tables.apply(movementOf({ standard: "ERC1155", quantity: 0n }));
    expect(after).toMatchObject({ event: { event_type: "transfer", quantity: 0n }, token: { owner: null } });
    expect(tables.ownerships.size).toBe(0);
  });
});

describe("an event", () => {
  test("repeats the log, and is a mint, a transfer or a burn", () => {
    const types = [
      [zeroAddress, ANNE, "mint"],
      [ANNE, BEN, "transfer"],
      [ANNE, ANNE, "transfer"],
      [ANNE, zeroAddress, "burn"],
      [zeroAddress, zeroAddress, "mint"],
    ] as const;
    for (const [from, to, event_type] of types) {
      expect(createTables().apply(movementOf({ from, to, batchIndex: 4 }))).toMatchObject({
        event: {
          block_number: 7,
          log_index: 3,
          batch_index: 4,
          timestamp: PLACE.timestamp,
          event_type,
          contract_address: CONTRACT,
          token_id: 1n,
          from_address: from,
          to_address: to,
          quantity: 1n,
          transaction_hash: PLACE.transactionHash,
        },
      });
    }
  });

  test("of another standard than the token's is left out", () => {
    const standards: Standard[] = ["ERC721", "ERC1155", "CRYPTOPUNKS"];
    for (const first of standards) {
      for (const second of standards.filter((standard) => standard !== first)) {
        const tables = createTables();
        tables.apply(movementOf({ standard: first }));
        const before = structuredClone([tables.tokens, tables.ownerships]);
        expect(tables.apply(movementOf({ standard: second, to: CLEO }))).toBe("other standard");
        expect([tables.tokens, tables.ownerships]).toEqual(before);
        // Other tokens of the contract are their own matter.
        expect(tables.apply(movementOf({ standard: second, tokenId: 2n }))).toMatchObject({ event: expect.anything() });
      }
    }
  });
});

describe("a range", () => {
  test("has every id from first to last once, in order", () => {
    const firstId = fc.bigInt({ min: 0n, max: MAX_UINT256 - 500n });
    fc.assert(
      fc.property(firstId, fc.bigInt({ min: 0n, max: 500n }), (first, length) => {
        const movements = movementsOfRange(PLACE, { first, last: first + length, from: zeroAddress, to: ANNE });
        if (typeof movements === "string") throw new Error(movements);
        expect(movements.length).toBe(Number(length) + 1);
        for (const [index, movement] of movements.entries())
          expect(movement).toMatchObject({ tokenId: first + BigInt(index), batchIndex: index, quantity: 1n });
      }),
    );
  });

  test("is left out where it is reversed or too large", () => {
    const range = (first: bigint, last: bigint) =>
      movementsOfRange(PLACE, { first, last, from: zeroAddress, to: ANNE });
    expect(range(5n, 4n)).toBe("range reversed");
    expect(range(MAX_UINT256, 0n)).toBe("range reversed");
    expect(range(0n, MAX_UINT256)).toBe("range too large");
    expect(range(1n, MAX_RANGE_TOKENS + 1n)).toBe("range too large");
    expect(range(1n, MAX_RANGE_TOKENS)).toHaveLength(Number(MAX_RANGE_TOKENS));
    expect(range(MAX_UINT256, MAX_UINT256)).toMatchObject([{ tokenId: MAX_UINT256 }]);
  });
});

describe("a batch", () => {
  test("is the same as its entries one by one", () => {
    const entry = fc.record({ tokenId, quantity });
    const batch = fc.record({
      entries: fc.array(entry, { maxLength: 12 }),
      from: accountOrNobody,
      to: accountOrNobody,
    });
    fc.assert(
      fc.property(fc.array(batch, { maxLength: 8 }), (batches) => {
        const [together, oneByOne] = [createTables(), createTables()];
        for (const [logIndex, { entries, from, to }] of batches.entries()) {
          const args = { ids: entries.map((one) => one.tokenId), values: entries.map((one) => one.quantity), from, to };
          const movements = movementsOfBatch(placeAt(logIndex), args);
          if (typeof movements === "string") throw new Error(movements);
          for (const movement of movements) together.apply(movement);
          for (const [batchIndex, part] of entries.entries())
            oneByOne.apply({ ...placeAt(logIndex), standard: "ERC1155", batchIndex, from, to, ...part });
        }
        expect(together.ownerships).toEqual(oneByOne.ownerships);
        expect(together.tokens).toEqual(oneByOne.tokens);
      }),
    );
  });

  test("counts an id as often as it names it", () => {
    const movements = movementsOfBatch(PLACE, { ids: [1n, 2n, 1n], values: [3n, 4n, 5n], from: zeroAddress, to: ANNE });
    if (typeof movements === "string") throw new Error(movements);
    const tables = createTables();
    for (const movement of movements) tables.apply(movement);
    expect([tables.balanceOf(1n, ANNE), tables.balanceOf(2n, ANNE)]).toEqual([8n, 4n]);
    expect(movements.map(({ batchIndex }) => batchIndex)).toEqual([0, 1, 2]);
  });

  test("is left out where its arrays differ in length or it is too large", () => {
    const batch = (ids: number, values: number) =>
      movementsOfBatch(PLACE, {
        ids: Array.from({ length: ids }, (_, index) => BigInt(index)),
        values: Array.from({ length: values }, () => 1n),
        from: zeroAddress,
        to: ANNE,
      });
    expect(batch(2, 1)).toBe("batch arrays differ in length");
    expect(batch(0, 1)).toBe("batch arrays differ in length");
    expect(batch(MAX_BATCH_TOKENS + 1, MAX_BATCH_TOKENS + 1)).toBe("batch too large");
    expect(batch(MAX_BATCH_TOKENS, MAX_BATCH_TOKENS)).toHaveLength(MAX_BATCH_TOKENS);
    expect(batch(0, 0)).toEqual([]);
  });
});
