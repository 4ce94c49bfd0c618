import {
  concat,
  domainSeparator,
  type Hex,
  hashStruct,
  hexToBigInt,
  keccak256,
  numberToHex,
  recoverAddress,
  size,
  slice,
  stringToHex,
} from "viem";
import type { OrderParameters } from "../../abis/seaport-order.ts";

/** An order as it is signed: Seaport's OrderComponents. */
export type OrderComponents = OrderParameters & {
  zoneHash: Hex;
  salt: bigint;
  conduitKey: Hex;
  counter: bigint;
};

const ITEM = "uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount";
const COMPONENTS =
  "address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter";

/** The fields of a struct as EIP-712 writes them: `address token,uint256 amount`. */
export const fieldsOf = (text: string) =>
  text.split(",").map((field) => {
    const [type = "", name = ""] = field.split(" ");
    return { type, name };
  });

const types = {
  OrderComponents: fieldsOf(COMPONENTS),
  OfferItem: fieldsOf(ITEM),
  ConsiderationItem: fieldsOf(`${ITEM},address recipient`),
};

const ITEM_TYPES = `ConsiderationItem(${ITEM},address recipient)OfferItem(${ITEM})`;
const COMPONENTS_TYPE = `OrderComponents(${COMPONENTS})`;
/** What is signed of an order, as EIP-712 writes a type. */
export const ORDER_TYPE = `${COMPONENTS_TYPE}${ITEM_TYPES}`;

/** Seaport's order hash. It doesn't depend on the exchange. Source: Seaport's documentation. */
export function hashOrder(order: OrderComponents): Hex {
  return hashStruct({ data: { ...order }, primaryType: "OrderComponents", types });
}

/** The EIP-712 domain of an exchange: the version is the one that it gives for itself, as `1.6`. */
export type Domain = { version: string; chainId: number; exchange: Hex };

const separatorOf = ({ version, chainId, exchange }: Domain): Hex =>
  domainSeparator({ domain: { name: "Seaport", version, chainId, verifyingContract: exchange } });

/** The digest that is signed for a hash under an EIP-712 domain. */
export const digestOf = (hash: Hex, domain: Domain): Hex => keccak256(concat(["0x1901", separatorOf(domain), hash]));

/**
 * The account whose key signed an order. The signature is 65 bytes, or 64 if compact (EIP-2098), or either of them with
 * a proof of the order's place in a tree of orders that were signed together. Undefined for any other signature: it may
 * be a contract's.
 */
export async function recoverSigner(orderHash: Hex, signature: Hex, domain: Domain): Promise<Hex | undefined> {
  const length = size(signature);
  if (length === 64 || length === 65) return recover(digestOf(orderHash, domain), signature);
  if (VERSIONS_WITHOUT_BULK.has(domain.version)) return undefined;
  const keyLength = length % 2 === 1 ? 64 : 65;
  const height = (length - keyLength - INDEX_BYTES) / 32;
  if (!Number.isInteger(height) || height < 1 || height > MAX_HEIGHT) return undefined;
  // Bits of the index above the tree's height are ignored, as by Seaport.
  const index = hexToBigInt(slice(signature, keyLength, keyLength + INDEX_BYTES));
  let node = orderHash;
  for (let level = 0; level < height; level++) {
    const from = keyLength + INDEX_BYTES + 32 * level;
    const sibling = slice(signature, from, from + 32);
    const isRight = (index >> BigInt(level)) & 1n;
    node = keccak256(concat(isRight ? [sibling, node] : [node, sibling]));
  }
  const typeHash = keccak256(
    stringToHex(`BulkOrder(OrderComponents${"[2]".repeat(height)} tree)${ITEM_TYPES}${COMPONENTS_TYPE}`),
  );
  const rootHash = keccak256(concat([typeHash, node]));
  return recover(digestOf(rootHash, domain), slice(signature, 0, keyLength));
}

const VERSIONS_WITHOUT_BULK = new Set(["1.1"]);
const INDEX_BYTES = 3;
const MAX_HEIGHT = 24;
/** The last byte of a signature that Seaport accepts: 27 or 28. */
const SEAPORT_V = new Set(["0x1b", "0x1c"]);

async function recover(hash: Hex, signature: Hex): Promise<Hex | undefined> {
  const long = size(signature) === 64 ? expand(signature) : signature;
  // Some signers, as go-ethereum, write 0 or 1 instead. viem could read that, but Seaport refuses it.
  if (!SEAPORT_V.has(slice(long, 64))) return undefined;
  try {
    return (await recoverAddress({ hash, signature: long })).toLowerCase() as Hex;
  } catch {
    return undefined;
  }
}

/** The last byte of a key's signature where its signer wrote 0 or 1. Undefined of any other signature. */
export function findBareV(signature: Hex): Hex | undefined {
  const v = size(signature) === 65 ? slice(signature, 64) : undefined;
  return v === "0x00" || v === "0x01" ? v : undefined;
}

/** Turns a compact signature into 65 bytes: v is the first bit of its second word. */
function expand(signature: Hex): Hex {
  const [r, vs] = [slice(signature, 0, 32), hexToBigInt(slice(signature, 32))];
  return concat([r, numberToHex(vs & (2n ** 255n - 1n), { size: 32 }), numberToHex(27n + (vs >> 255n), { size: 1 })]);
}
