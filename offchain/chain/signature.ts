import { type Hex, size, toFunctionSelector } from "viem";
import { orderStatusAbi, signatureAbi } from "../../abis/contract.ts";
import type { Call, CallAnswer } from "./call.ts";
import { word } from "./word.ts";

/** A contract that may have signed, and what for. */
export type ContractSignature = { signer: Hex; digest: Hex; signature: Hex };

const IS_VALID_SIGNATURE = toFunctionSelector(signatureAbi[0]);
/** The word for a valid signature, all of it: Seaport compares its last 28 bytes, too. Source: EIP-1271. */
const VALID_SIGNATURE = Buffer.from("1626ba7e".padEnd(64, "0"), "hex");

const GET_ORDER_STATUS = toFunctionSelector(orderStatusAbi[0]);
const STATUS_BYTES = 128;

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

/** The call whose answer `readValidation` takes. */
export function validationCall({ exchange: to, order_hash }: { exchange: Hex; order_hash: Hex }): Call {
  return { to, data: `${GET_ORDER_STATUS}${order_hash.slice(2)}` };
}

/**
 * Whether an exchange noted that an order is signed, because somebody put it on the chain or filled a part of it: it asks
 * for no signature from then on. Undefined where the node failed.
 */
export function readValidation(answer: CallAnswer): boolean | undefined {
  if (answer.kind === "fault") return undefined;
  return answer.kind === "data" && answer.data.length === STATUS_BYTES && answer.data[31] === 1;
}
