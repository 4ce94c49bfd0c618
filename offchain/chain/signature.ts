import { type Hex, size, toFunctionSelector } from "viem";
import { signatureAbi } from "../../abis/contract.ts";
import type { Call, CallAnswer } from "./call.ts";
import { word } from "./word.ts";

/** A contract that may have signed, and what for. */
export type ContractSignature = { signer: Hex; digest: Hex; signature: Hex };

const IS_VALID_SIGNATURE = toFunctionSelector(signatureAbi[0]);
/** The word for a valid signature, all of it: Seaport compares its last 28 bytes, too. Source: EIP-1271. */
const VALID_SIGNATURE = Buffer.from("1626ba7e".padEnd(64, "0"), "hex");

/** The call whose answer `readSignature` takes. */
export function signatureCall({ signer: to, digest, signature }: ContractSignature): Call {
  const length = size(signature);
  const bytes = signature.slice(2).padEnd(Math.ceil(length / 32) * 64, "0");
  return { to, data: `${IS_VALID_SIGNATURE}${digest.slice(2)}${word(64)}${word(length)}${bytes}` };
}

/**
 * Whether the contract confirms that it signed. Undefined where the node failed, because that says nothing about the
 * contract.
 */
export function readSignature(answer: CallAnswer): boolean | undefined {
  if (answer.kind === "fault") return undefined;
  return answer.kind === "data" && answer.data.subarray(0, VALID_SIGNATURE.length).equals(VALID_SIGNATURE);
}
