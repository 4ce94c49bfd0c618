import { type Hex, zeroAddress } from "viem";
import { MAX_BATCH_TOKENS, MAX_RANGE_TOKENS, MAX_UINT256, type SkipReason } from "./limits.ts";

/**
 * The pure core: what one movement of a token does to the rows. It knows no engine, so that any engine can run it: load
 * the token's row and those of `holdersOf`, call `applyMovement`, write what it returns.
 */

/** The interface by which a token moves. Values of `token.standard` and `contract.contract_type`. */
export type Standard = "ERC721" | "ERC1155" | "CRYPTOPUNKS";

/** The place of a log in the chain. `timestamp` is in Unix seconds. */
export type LogPlace = {
  contractAddress: Hex;
  blockNumber: number;
  logIndex: number;
  timestamp: number;
  blockHash: Hex;
  transactionHash: Hex;
};

/** `quantity` units of one token go from `from` to `to`. The zero address as `from` is a mint, as `to` a burn. */
export type Movement = LogPlace & {
  standard: Standard;
  batchIndex: number;
  tokenId: bigint;
  from: Hex;
  to: Hex;
  quantity: bigint;
};

/** Row of table `token`. */
export type TokenRow = {
  contract_address: Hex;
  token_id: bigint;
  standard: string;
  owner: Hex | null;
  mint_address: Hex | null;
  mint_block_number: number | null;
  mint_timestamp: number | null;
  mint_transaction_hash: Hex | null;
};

/** Row of table `ownership`. */
export type OwnershipRow = {
  contract_address: Hex;
  token_id: bigint;
  owner: Hex;
  balance: bigint;
  received_block_number: number;
  received_log_index: number;
  received_batch_index: number;
};

/** Row of table `token_event`. */
export type TokenEventRow = {
  block_number: number;
  log_index: number;
  batch_index: number;
  timestamp: number;
  event_type: "mint" | "transfer" | "burn" | "sale";
  contract_address: Hex;
  token_id: bigint;
  from_address: Hex;
  to_address: Hex;
  quantity: bigint;
  transaction_hash: Hex;
  // Only sales have the following.
  price?: bigint | null;
  currency_address?: Hex | null;
  price_note?: string | null;
  marketplace?: string;
  broker?: Hex;
  is_offer?: boolean | null;
};

/** The rows before a movement, null where there is none yet. Sender and receiver are needed for ERC-1155 only. */
type RowsBefore = { token: TokenRow | null; sender: OwnershipRow | null; receiver: OwnershipRow | null };

/** The rows after a movement, complete. One that is absent doesn't change. */
export type RowsAfter = { event: TokenEventRow; token?: TokenRow; sender?: OwnershipRow; receiver?: OwnershipRow };

/** The accounts whose ownership rows a movement needs. */
export function holdersOf({ standard, quantity, from, to }: Movement): { sender?: Hex; receiver?: Hex } {
  if (standard !== "ERC1155" || quantity === 0n) return {};
  return {
    ...(from !== zeroAddress && { sender: from }),
    ...(to !== zeroAddress && { receiver: to }),
  };
}

/**
 * What a movement does to the rows. Owners and balances follow the rows and not what the log says of its sender:
 * whomever logs name, a token has one owner and no balance is below zero.
 */
export function applyMovement(before: RowsBefore, movement: Movement): RowsAfter | SkipReason {
  if (before.token && before.token.standard !== movement.standard) return "other standard";
  const token = tokenAfter(before.token, movement);
  return {
    event: eventOf(movement),
    ...(token && { token }),
    ...holdersAfter(before, movement),
  };
}

function eventOf(movement: Movement): TokenEventRow {
  const { from, to } = movement;
  return {
    block_number: movement.blockNumber,
    log_index: movement.logIndex,
    batch_index: movement.batchIndex,
    timestamp: movement.timestamp,
    event_type: from === zeroAddress ? "mint" : to === zeroAddress ? "burn" : "transfer",
    contract_address: movement.contractAddress,
    token_id: movement.tokenId,
    from_address: from,
    to_address: to,
    quantity: movement.quantity,
    transaction_hash: movement.transactionHash,
  };
}

/** The token's row, or undefined where the movement doesn't change it. */
function tokenAfter(before: TokenRow | null, movement: Movement): TokenRow | undefined {
  const owner = movement.standard === "ERC1155" ? null : movement.to;
  const isFirstMint = movement.from === zeroAddress && !before?.mint_address;
  if (before && !isFirstMint) return before.owner === owner ? undefined : { ...before, owner };
  return {
    contract_address: movement.contractAddress,
    token_id: movement.tokenId,
    standard: movement.standard,
    owner,
    mint_address: isFirstMint ? movement.to : null,
    mint_block_number: isFirstMint ? movement.blockNumber : null,
    mint_timestamp: isFirstMint ? movement.timestamp : null,
    mint_transaction_hash: isFirstMint ? movement.transactionHash : null,
  };
}

/** The ownership rows. The sender's comes first, so that units sent to oneself are taken before they are given. */
function holdersAfter(before: RowsBefore, movement: Movement): Pick<RowsAfter, "sender" | "receiver"> {
  const { sender, receiver } = holdersOf(movement);
  const left = before.sender && sender ? less(before.sender, movement.quantity) : undefined;
  if (!receiver) return left ? { sender: left } : {};
  const held = (sender === receiver ? left : before.receiver)?.balance ?? 0n;
  const sum = held + movement.quantity;
  const got: OwnershipRow = {
    contract_address: movement.contractAddress,
    token_id: movement.tokenId,
    owner: receiver,
    balance: sum > MAX_UINT256 ? MAX_UINT256 : sum,
    received_block_number: movement.blockNumber,
    received_log_index: movement.logIndex,
    received_batch_index: movement.batchIndex,
  };
  return left && sender !== receiver ? { sender: left, receiver: got } : { receiver: got };
}

function less(row: OwnershipRow, quantity: bigint): OwnershipRow {
  return { ...row, balance: row.balance > quantity ? row.balance - quantity : 0n };
}

/** The movements of an ERC-2309 ConsecutiveTransfer: one for each id from `first` to `last`, both included. */
export function movementsOfRange(
  place: LogPlace,
  { first, last, from, to }: { first: bigint; last: bigint; from: Hex; to: Hex },
): Movement[] | SkipReason {
  if (last < first) return "range reversed";
  if (last - first >= MAX_RANGE_TOKENS) return "range too large";
  return Array.from({ length: Number(last - first) + 1 }, (_, batchIndex) => ({
    ...place,
    standard: "ERC721" as const,
    batchIndex,
    tokenId: first + BigInt(batchIndex),
    from,
    to,
    quantity: 1n,
  }));
}

/** The movements of an ERC-1155 TransferBatch, in its order; the same id may come more than once. */
export function movementsOfBatch(
  place: LogPlace,
  { ids, values, from, to }: { ids: readonly bigint[]; values: readonly bigint[]; from: Hex; to: Hex },
): Movement[] | SkipReason {
  if (ids.length !== values.length) return "batch arrays differ in length";
  if (ids.length > MAX_BATCH_TOKENS) return "batch too large";
  return ids.map((tokenId, batchIndex) => ({
    ...place,
    standard: "ERC1155" as const,
    batchIndex,
    tokenId,
    from,
    to,
    quantity: values[batchIndex] ?? 0n,
  }));
}
