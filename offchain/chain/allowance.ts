import { type Hex, toFunctionSelector } from "viem";
import { allowanceAbi } from "../../abis/contract.ts";
import type { Call, CallAnswer } from "./call.ts";
import { addressWord, word } from "./word.ts";

/** A token, its owner, and the operator who is to transfer it. */
export type TokenToMove = { contract: Hex; tokenId: bigint; owner: Hex; operator: Hex };

const [IS_APPROVED_FOR_ALL, GET_APPROVED, BALANCE_OF, ALLOWANCE] = allowanceAbi.map(toFunctionSelector) as [
  Hex,
  Hex,
  Hex,
  Hex,
];

/** The calls whose answers `readApproval` takes. */
export function approvalCalls({ contract: to, tokenId, owner, operator }: TokenToMove): Call[] {
  return [
    { to, data: `${IS_APPROVED_FOR_ALL}${addressWord(owner)}${addressWord(operator)}` },
    { to, data: `${GET_APPROVED}${word(tokenId)}` },
  ];
}

/**
 * Whether `operator` may transfer the token. Undefined where the node failed at an answer that might allow it, or where
 * the contract answers neither call.
 */
export function readApproval(answers: CallAnswer[], { operator }: { operator: Hex }): boolean | undefined {
  const [isForAll, approved] = answers.map(readWord);
  if (isForAll === 1n || approved === BigInt(operator)) return true;
  const isUntold = answers.some(({ kind }) => kind === "fault") || (isForAll === undefined && approved === undefined);
  return isUntold ? undefined : false;
}

/** The calls whose answers `readFunds` takes. */
export function fundsCalls({ currency: to, owner, operator }: { currency: Hex; owner: Hex; operator: Hex }): Call[] {
  return [
    { to, data: `${BALANCE_OF}${addressWord(owner)}` },
    { to, data: `${ALLOWANCE}${addressWord(owner)}${addressWord(operator)}` },
  ];
}

/**
 * How much `operator` can take: the balance or the allowance, whichever is less. 0 where the contract is no currency or
 * doesn't answer. Undefined where the node failed, because that says nothing about the owner.
 */
export function readFunds(answers: CallAnswer[]): bigint | undefined {
  if (answers.some(({ kind }) => kind === "fault")) return undefined;
  const [balance = 0n, allowance = 0n] = answers.map(readWord);
  return balance < allowance ? balance : allowance;
}

/** A number, undefined where the answer isn't exactly one word. */
function readWord(answer: CallAnswer | undefined): bigint | undefined {
  return answer?.kind === "data" && answer.data.length === 32 ? BigInt(`0x${answer.data.toString("hex")}`) : undefined;
}
