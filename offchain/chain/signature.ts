import { type Hex, size, toFunctionSelector } from "viem";
import { signatureAbi } from "../../abis/contract.ts";
import type { Call, CallAnswer } from "./call.ts";
import { word } from "./word.ts";

/** What a contract is asked whether it signed. */
export type ContractSignature = { signer: Hex; digest: Hex; signature: Hex };

const IS_VALID_SIGNATURE = toFunctionSelector(signatureAbi[0]);
/** A word that says yes, whatever comes behind it: Seaport looks no further. Source: EIP-1271. */
const VALID_SIGNATURE = Buffer.from("1626ba7e".padEnd(64, "0"), "hex");

/** What to ask for `readSignature`. */
export function signatureCall({ signer: to, digest, signature }: ContractSignature): Call {
  const length = size(signature);
  const bytes = signature.slice(2).padEnd(Math.ceil(length / 32) * 64, "0");
  return { to, data: `${IS_VALID_SIGNATURE}${digest.slice(2)}${word(64)}${word(length)}${bytes}` };
}

/** Whether the contract says that it signed. Undefined where the node failed: that says nothing of the contract. */
export function readSignature(answer: CallAnswer): boolean | undefined {
  if (answer.kind === "fault") return undefined;
  return answer.kind === "data" && answer.data.subarray(0, VALID_SIGNATURE.length).equals(VALID_SIGNATURE);
}
