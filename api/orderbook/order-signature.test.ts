import {
  concat,
  type Hex,
  hexToBigInt,
  keccak256,
  parseSignature,
  slice,
  stringToHex,
  zeroAddress,
  zeroHash,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { type Domain, digestOf, hashOrder, type OrderComponents, recoverSigner } from "./order-signature.ts";

const account = privateKeyToAccount(keccak256(stringToHex("a maker")));
const maker = account.address.toLowerCase();
const domainOf = (version: string): Domain => ({ version, chainId: 1, exchange: `0x${"5e".repeat(20)}` });

/** Source: the test order of exchanges.md, whose hash other programs compute too. */
const nft = {
  itemType: 2,
  token: `0x${"22".repeat(20)}`,
  identifierOrCriteria: 7n,
  startAmount: 1n,
  endAmount: 1n,
} as const;
const ether = (digits: string, amount: bigint) => ({
  itemType: 0,
  token: zeroAddress,
  identifierOrCriteria: 0n,
  startAmount: amount,
  endAmount: amount,
  recipient: `0x${digits.repeat(20)}` as const,
});
const order: OrderComponents = {
  offerer: `0x${"11".repeat(20)}`,
  zone: zeroAddress,
  offer: [nft],
  consideration: [ether("11", 975n), ether("33", 25n)],
  orderType: 0,
  startTime: 1n,
  endTime: 1000n,
  zoneHash: zeroHash,
  salt: 5n,
  conduitKey: zeroHash,
  counter: 0n,
};
const hash = hashOrder(order);

/** Signed at once with another order, as the second of two. Source: Seaport's BulkOrder of height 1. */
async function signBulk(domain: Domain): Promise<Hex> {
  const sibling = keccak256("0x01");
  const typeHash = "0x3ca2711d29384747a8f61d60aad3c450405f7aaff5613541dee28df2d6986d32";
  const root = keccak256(concat([typeHash, keccak256(concat([sibling, hash]))]));
  const signature = await account.sign({ hash: digestOf(root, domain) });
  return concat([signature, "0x000001", sibling]);
}

const withLast = (signature: Hex, last: Hex, at = 64): Hex =>
  concat([slice(signature, 0, at), last, ...(signature.length > 2 + 2 * (at + 1) ? [slice(signature, at + 1)] : [])]);

test("the hash is that of Seaport", () => {
  expect(hash).toBe("0xcb386fac2ef3119dc7f343c0b333a400104c3b0258c0edb4bc1c217151235a94");
});

test("who signed is known by 65 bytes that end in 27 or 28, as Seaport wants them", async () => {
  const domain = domainOf("1.6");
  for (const signature of [await account.sign({ hash: digestOf(hash, domain) }), await signBulk(domain)]) {
    expect(await recoverSigner(hash, signature, domain)).toBe(maker);
    const { yParity } = parseSignature(slice(signature, 0, 65));
    expect(hexToBigInt(slice(signature, 64, 65))).toBe(27n + BigInt(yParity));
    expect(await recoverSigner(hash, withLast(signature, yParity ? "0x01" : "0x00"), domain)).toBe(undefined);
    expect(await recoverSigner(hash, withLast(signature, "0x1d"), domain)).toBe(undefined);
  }
});

test("orders are signed at once from version 1.2 on", async () => {
  for (const version of ["1.2", "1.5", "1.6"]) {
    const domain = domainOf(version);
    expect(await recoverSigner(hash, await signBulk(domain), domain)).toBe(maker);
  }
  const first = domainOf("1.1");
  expect(await recoverSigner(hash, await signBulk(first), first)).toBe(undefined);
});
