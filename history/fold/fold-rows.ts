import {
  type CopyBuffer,
  fieldOf,
  createCopyBuffer,
  putBytes,
  putColumnCount,
  putField,
  putInt4,
  putInt8,
  putNull,
  putNumeric,
  putSmallNumeric,
  putWordNumeric,
  reserve,
} from "../load/copy-buffer.ts";
import type { Fold } from "./fold.ts";
import { ADDRESS_BYTES, WORD_BYTES } from "../word.ts";

const STANDARDS = [fieldOf("ERC721"), fieldOf("ERC1155")] as const;
const MAX_TOKEN_BYTES = 300;
const MAX_OWNERSHIP_BYTES = 300;

/**
 * Rows for COPY, `rowsAtOnce` at a time, nearly in the order of their keys, which makes indexes on them much faster.
 */
export function* tokenRows(fold: Fold, rowsAtOnce: number): Generator<CopyBuffer> {
  const { tokens, places, contracts } = fold;
  const order = (fold.order ??= orderTokens(fold));
  for (let row = 0; row < order.length;) {
    const end = Math.min(order.length, row + rowsAtOnce);
    const out = createCopyBuffer((end - row) * 180);
    for (; row < end; row++) {
      const next = order[row]!;
      if (tokens.hasRow[next] !== 1) continue;
      reserve(out, MAX_TOKEN_BYTES);
      putColumnCount(out, 8);
      putBytes(out, contracts[tokens.contractOf[next]!]!, 0, ADDRESS_BYTES);
      putWordNumeric(out, tokens.ids, next * WORD_BYTES);
      putField(out, STANDARDS[tokens.isErc1155[next]! as 0 | 1]);
      if (tokens.isErc1155[next]) putNull(out);
      else putBytes(out, tokens.owners, next * ADDRESS_BYTES, (next + 1) * ADDRESS_BYTES);
      const mint = tokens.mintPlaceOf[next]! - 1;
      if (mint < 0) for (let column = 0; column < 4; column++) putNull(out);
      else {
        putBytes(out, tokens.mintAddresses, next * ADDRESS_BYTES, (next + 1) * ADDRESS_BYTES);
        putInt8(out, places.blockOf[mint]!);
        putInt8(out, places.timestampOf[mint]!);
        putBytes(out, places.hashes, mint * WORD_BYTES, (mint + 1) * WORD_BYTES);
      }
    }
    yield out;
  }
}

/** Rows of `ownership` for COPY, like those of `tokenRows`. */
export function* ownershipRows(fold: Fold, rowsAtOnce: number): Generator<CopyBuffer> {
  const { tokens, holders, contracts } = fold;
  const order = orderHolders(fold);
  for (let row = 0; row < order.length;) {
    const end = Math.min(order.length, row + rowsAtOnce);
    const out = createCopyBuffer((end - row) * 130);
    for (; row < end; row++) {
      const next = order[row]!;
      const token = holders.tokenOf[next]!;
      reserve(out, MAX_OWNERSHIP_BYTES);
      putColumnCount(out, 7);
      putBytes(out, contracts[tokens.contractOf[token]!]!, 0, ADDRESS_BYTES);
      putWordNumeric(out, tokens.ids, token * WORD_BYTES);
      putBytes(out, holders.owners, next * ADDRESS_BYTES, (next + 1) * ADDRESS_BYTES);
      const balance = holders.balanceOf[next]!;
      if (balance >= 0) putSmallNumeric(out, balance);
      else putNumeric(out, holders.large.get(next)!);
      putInt8(out, holders.blockOf[next]!);
      putInt4(out, holders.logIndexOf[next]!);
      putInt4(out, holders.batchIndexOf[next]!);
    }
    yield out;
  }
}

/**
 * Tokens by contract and id. Ids that are equal when rounded to a float64 stay in the order of their first movement.
 */
function orderTokens({ tokens, contracts }: Fold): Uint32Array {
  const { count, contractOf, ids } = tokens;
  const ranks = new Uint32Array(contracts.length);
  const byAddress = [...contracts.keys()].toSorted((a, b) => contracts[a]!.compare(contracts[b]!));
  for (const [rank, contract] of byAddress.entries()) ranks[contract] = rank;
  const numbers = new Float64Array(count);
  for (let token = 0; token < count; token++)
    for (let at = token * WORD_BYTES; at < (token + 1) * WORD_BYTES; at += 4)
      numbers[token] = numbers[token]! * 2 ** 32 + ids.readUInt32BE(at);
  return Uint32Array.from({ length: count }, (_, token) => token).toSorted(
    (a, b) => ranks[contractOf[a]!]! - ranks[contractOf[b]!]! || numbers[a]! - numbers[b]!,
  );
}

/** Holders in the order of their tokens, and of the first four bytes of their addresses. */
function orderHolders(fold: Fold): Uint32Array {
  const { count, tokenOf, owners } = fold.holders;
  const ranks = new Uint32Array(fold.tokens.count);
  const order = (fold.order ??= orderTokens(fold));
  for (let rank = 0; rank < order.length; rank++) ranks[order[rank]!] = rank;
  const keys = new Float64Array(count);
  for (let holder = 0; holder < count; holder++)
    keys[holder] = ranks[tokenOf[holder]!]! * 2 ** 32 + owners.readUInt32BE(holder * ADDRESS_BYTES);
  return Uint32Array.from({ length: count }, (_, holder) => holder).toSorted((a, b) => keys[a]! - keys[b]!);
}
