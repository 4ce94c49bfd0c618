import { expect, test } from "vitest";
import { encodeFunctionData, type Hex, numberToHex } from "viem";
import { signatureAbi } from "../../abis/contract.ts";
import type { CallAnswer } from "./call.ts";
import { readSignature, signatureCall } from "./signature.ts";

const [signer, digest] = [numberToHex(1, { size: 20 }), numberToHex(2, { size: 32 })];
const data = (hex: string): CallAnswer => ({ kind: "data", data: Buffer.from(hex, "hex") });
const yes = "1626ba7e".padEnd(64, "0");

test.each<Hex>(["0x", "0x12", `0x${"12".repeat(32)}`, `0x${"12".repeat(65)}`])(
  "asks what EIP-1271 calls it: %s",
  (signature) => {
    expect(signatureCall({ signer, digest, signature })).toEqual({
      to: signer,
      data: encodeFunctionData({ abi: signatureAbi, functionName: "isValidSignature", args: [digest, signature] }),
    });
  },
);

test.each<[CallAnswer, boolean | undefined]>([
  [data(yes), true],
  [data(`${yes}${"1".repeat(64)}`), true],
  [data(yes.replace("e", "f")), false],
  [data("1626ba7e"), false],
  [{ kind: "none" }, false],
  [{ kind: "fault", message: "overloaded" }, undefined],
])("signed %j: %s", (answer, isSigned) => {
  expect(readSignature(answer)).toBe(isSigned);
});
