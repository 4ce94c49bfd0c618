import { type Hex, toFunctionSelector } from "viem";
import { allowanceAbi, moduleApprovalAbi } from "../../abis/contract.ts";
import { ZORA_MODULE_MANAGER_ADDRESS } from "../../abis/zora.ts";
import type { Call, CallAnswer } from "./call.ts";
import { addressWord, word } from "./word.ts";

/**
 * A token, its owner, and the operator who is to transfer it. A module of Zora's, which an owner approves for whatever
 * token, is both contract and operator.
 */
export type TokenToMove = { contract: Hex; tokenId: bigint; owner: Hex; operator: Hex };

const [IS_APPROVED_FOR_ALL, GET_APPROVED, BALANCE_OF, ALLOWANCE] = allowanceAbi.map(toFunctionSelector) as [
  Hex,
  Hex,
  Hex,
  Hex,
];
const IS_MODULE_APPROVED = toFunctionSelector(moduleApprovalAbi[0]);

/** The calls whose answers `readApproval` takes. */
export function approvalCalls({ contract: to, tokenId, owner, operator }: TokenToMove): Call[] {
  const people = `${addressWord(owner)}${addressWord(operator)}`;
  if (to === operator) return [{ to: ZORA_MODULE_MANAGER_ADDRESS, data: `${IS_MODULE_APPROVED}${people}` }];
  return [
    { to, data: `${IS_APPROVED_FOR_ALL}${people}` },
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
