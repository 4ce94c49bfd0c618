import { zeroAddress } from "viem";
import { expect, test } from "vitest";
import type { OrderParameters } from "../../abis/seaport-order.ts";
import { dueOf } from "./offer-check.ts";

const MAKER = `0x${"11".repeat(20)}` as const;
const COIN = `0x${"33".repeat(20)}` as const;

test("an offer is due as Seaport would take it now: each payment rounded down, and the units that are left", () => {
  const paid = (...payments: [bigint, bigint][]): OrderParameters => ({
    offerer: MAKER,
    offer: payments.map(([startAmount, endAmount]) => ({
      itemType: 1,
      token: COIN,
      identifierOrCriteria: 0n,
      startAmount,
      endAmount,
    })),
    consideration: [],
    orderType: 0,
    zone: zeroAddress,
    startTime: 10n,
    endTime: 17n,
  });
  const due = (order: OrderParameters, second: bigint, [left, quantity] = [1n, 1n]) =>
    dueOf(order, { quantity, left, second });
  expect(due(paid([1000n, 100n]), 13n)).toBe(614n);
  expect(due(paid([1000n, 100n], [1000n, 100n]), 13n)).toBe(1228n);
  // Before its start, an offer is due at its start amount.
  expect(due(paid([1000n, 100n]), 3n)).toBe(1000n);
  expect(due(paid([1000n, 1000n]), 13n, [3n, 4n])).toBe(750n);
  // Between 8 and 12 the amount is 9.71 by then. 3 of 4 parts of 9.71 are 7.29; of a rounded 9 they would be 6.75.
  expect(due(paid([8n, 12n]), 13n, [3n, 4n])).toBe(7n);
  // What rises has not come to anything yet; what falls never will again.
  expect(due(paid([0n, 1n], [9n, 9n]), 13n)).toBe(9n);
  expect(() => due(paid([1n, 0n], [9n, 9n]), 13n)).toThrow("has come down to nothing");
});
