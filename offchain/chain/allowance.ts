import { type Hex, toFunctionSelector } from "viem";
import { allowanceAbi } from "../../abis/contract.ts";
import type { Call, CallAnswer } from "./call.ts";
import { addressWord, word } from "./word.ts";

/** A token, and who is to move it for its owner. */
export type TokenToMove = { contract: Hex; tokenId: bigint; owner: Hex; operator: Hex };

const [IS_APPROVED_FOR_ALL, GET_APPROVED, BALANCE_OF, ALLOWANCE] = allowanceAbi.map(toFunctionSelector) as [
  Hex,
  Hex,
  Hex,
  Hex,
];

/** What to ask for `readApproval`. */
export function approvalCalls({ contract: to, tokenId, owner, operator }: TokenToMove): Call[] {
  return [
    { to, data: `${IS_APPROVED_FOR_ALL}${addressWord(owner)}${addressWord(operator)}` },
    { to, data: `${GET_APPROVED}${word(tokenId)}` },
  ];
}

/**
 * Whether `operator` may move the token. Undefined where the node failed to say what might allow it, or the contract answers
 * neither question.
 */
export function readApproval(answers: CallAnswer[], { operator }: { operator: Hex }): boolean | undefined {
  const [isForAll, approved] = answers.map(readWord);
  if (isForAll === 1n || approved === BigInt(operator)) return true;
  const isUntold = answers.some(({ kind }) => kind === "fault") || (isForAll === undefined && approved === undefined);
  return isUntold ? undefined : false;
}

/** What to ask for `readFunds`. */
export function fundsCalls({ currency: to, owner, operator }: { currency: Hex; owner: Hex; operator: Hex }): Call[] {
  return [
    { to, data: `${BALANCE_OF}${addressWord(owner)}` },
    { to, data: `${ALLOWANCE}${addressWord(owner)}${addressWord(operator)}` },
  ];
}

/**
 * What `operator` can take: the balance, as far as it is allowed. What is no currency, or says nothing, can't be taken
 * from. Undefined where the node failed: that says nothing of the owner.
 */
export function readFunds(answers: CallAnswer[]): bigint | undefined {
  if (answers.some(({ kind }) => kind === "fault")) return undefined;
  const [balance = 0n, allowance = 0n] = answers.map(readWord);
  return balance < allowance ? balance : allowance;
}

/** Undefined where it isn't one word: it answers another question. */
function readWord(answer: CallAnswer | undefined): bigint | undefined {
  return answer?.kind === "data" && answer.data.length === 32 ? BigInt(`0x${answer.data.toString("hex")}`) : undefined;
}
