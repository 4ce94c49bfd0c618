import { expect, test } from "vitest";
import { type Address, encodeFunctionData, numberToHex } from "viem";
import { allowanceAbi } from "../../abis/contract.ts";
import { approvalCalls, fundsCalls, readApproval, readFunds } from "./allowance.ts";
import type { CallAnswer } from "./call.ts";

const abi = allowanceAbi;
const [to, owner, operator] = [1n, 2n, 3n].map((n) => numberToHex(n, { size: 20 })) as [Address, Address, Address];
const word = (value: bigint): CallAnswer => ({
  kind: "data",
  data: Buffer.from(value.toString(16).padStart(64, "0"), "hex"),
});
const none: CallAnswer = { kind: "none" };
const fault: CallAnswer = { kind: "fault", message: "overloaded" };
/** Answers that aren't one word, like those of a contract with a fallback function. */
const short: CallAnswer = { kind: "data", data: Buffer.alloc(1, 1) };
const long: CallAnswer = { kind: "data", data: Buffer.alloc(64, 1) };

test("asks what the standards call it", () => {
  const tokenId = 2n ** 256n - 1n;
  expect(approvalCalls({ contract: to, tokenId, owner, operator })).toEqual([
    { to, data: encodeFunctionData({ abi, functionName: "isApprovedForAll", args: [owner, operator] }) },
    { to, data: encodeFunctionData({ abi, functionName: "getApproved", args: [tokenId] }) },
  ]);
  expect(fundsCalls({ currency: to, owner, operator })).toEqual([
    { to, data: encodeFunctionData({ abi, functionName: "balanceOf", args: [owner] }) },
    { to, data: encodeFunctionData({ abi, functionName: "allowance", args: [owner, operator] }) },
  ]);
});

test.each<[CallAnswer, CallAnswer, boolean | undefined]>([
  [word(1n), word(0n), true],
  [word(0n), word(3n), true],
  [word(1n), none, true],
  [none, word(3n), true],
  [fault, word(3n), true],
  [word(0n), word(4n), false],
  [word(2n), none, false],
  [word(0n), short, false],
  [none, word(0n), false],
  [none, none, undefined],
  [short, long, undefined],
  [fault, none, undefined],
  [fault, word(0n), undefined],
  [word(0n), fault, undefined],
  [fault, fault, undefined],
])("approval for all %o, for the one %o: %s", (forAll, single, expected) => {
  expect(readApproval([forAll, single], { operator })).toBe(expected);
});

test.each<[CallAnswer, CallAnswer, bigint | undefined]>([
  [word(5n), word(7n), 5n],
  [word(7n), word(5n), 5n],
  [word(7n), none, 0n],
  [short, word(5n), 0n],
  [long, word(5n), 0n],
  [none, none, 0n],
  [word(7n), fault, undefined],
  [fault, none, undefined],
])("a balance of %o, allowed %o: %s", (balance, allowance, expected) => {
  expect(readFunds([balance, allowance])).toBe(expected);
});
