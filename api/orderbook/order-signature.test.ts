import { EIP_712_BULK_ORDER_TYPE } from "@opensea/seaport-js/lib/constants.js";
import { TypedDataEncoder } from "ethers";
import {
  concat,
  type Hex,
  hexToBigInt,
  keccak256,
  numberToHex,
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

/** Signs the order as one of a tree of orders; by default the second of two. */
async function signBulk(domain: Domain, { height = 1, index = 1 } = {}): Promise<Hex> {
  const siblings = Array.from({ length: height }, (_, level) => keccak256(numberToHex(level)));
  const root = siblings.reduce(
    (node, sibling, level) => keccak256(concat(level === 0 ? [sibling, node] : [node, sibling])),
    hash,
  );
  const tree = { name: "tree", type: `OrderComponents${"[2]".repeat(height)}` };
  const encoder = TypedDataEncoder.from({ ...EIP_712_BULK_ORDER_TYPE, BulkOrder: [tree] });
  const typeHash = keccak256(stringToHex(encoder.encodeType("BulkOrder")));
  const signature = await account.sign({ hash: digestOf(keccak256(concat([typeHash, root])), domain) });
  return concat([signature, numberToHex(index, { size: 3 }), ...siblings]);
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

/** Order of secp256k1. */
const CURVE_ORDER = 2n ** 256n - 0x14551231950b75fc4402da1732fc9bebfn;

test("who signed is known by either of the two signatures that each one comes to, as Seaport takes both", async () => {
  const domain = domainOf("1.6");
  const { r, s, yParity } = parseSignature(await account.sign({ hash: digestOf(hash, domain) }));
  const other = numberToHex(CURVE_ORDER - hexToBigInt(s), { size: 32 });
  expect(await recoverSigner(hash, concat([r, other, yParity ? "0x1b" : "0x1c"]), domain)).toBe(maker);
  expect(await recoverSigner(hash, concat([r, other, yParity ? "0x1c" : "0x1b"]), domain)).not.toBe(maker);
});

test("orders are signed at once in trees of up to 2^24, as those whose place in it its last bits tell", async () => {
  const domain = domainOf("1.6");
  const signerOf = async (height: number, index: number) =>
    recoverSigner(hash, await signBulk(domain, { height, index }), domain);
  expect(await signerOf(24, 1)).toBe(maker);
  expect(await signerOf(25, 1)).toBe(undefined);
  expect(await signerOf(2, 0b101)).toBe(maker);
  expect(await signerOf(2, 0b011)).not.toBe(maker);
});

test("orders are signed at once from version 1.2 on", async () => {
  for (const version of ["1.2", "1.5", "1.6"]) {
    const domain = domainOf(version);
    expect(await recoverSigner(hash, await signBulk(domain), domain)).toBe(maker);
  }
  const first = domainOf("1.1");
  expect(await recoverSigner(hash, await signBulk(first), first)).toBe(undefined);
});
