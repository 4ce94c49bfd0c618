/**
 * Limits for a single log. A log above them is left out and noted in `skipped_log`: a log costs its author a few
 * thousand gas whatever it claims, so without limits a single one could fill any disk. The number of large logs is not
 * limited: with a budget for each block, one author could use up another's.
 */

/** Tokens in one ConsecutiveTransfer. ERC-721A allows 5,000 a log; a hostile range has up to 2^256. */
export const MAX_RANGE_TOKENS = 10_000n;

/** Entries in one TransferBatch: the most that a block's gas has room for. */
export const MAX_BATCH_TOKENS = 10_000;

/**
 * Movements in one transaction of which it is remembered who sold what. Real ones cost more gas than any block has room
 * for: beyond it are tokens that logs of ranges claim.
 */
export const MAX_TRANSACTION_HOPS = 100_000;

/** The largest number of units that one account can hold of one token. Sums of such balances still fit the column. */
export const MAX_UINT256 = 2n ** 256n - 1n;

/** Why a log is left out, as `skipped_log.reason` has it. */
export type SkipReason =
  /** A ConsecutiveTransfer over more than MAX_RANGE_TOKENS. */
  | "range too large"
  /** A ConsecutiveTransfer whose last token id is below its first. */
  | "range reversed"
  /** A TransferBatch with more than MAX_BATCH_TOKENS entries. */
  | "batch too large"
  /** A TransferBatch with more ids than values or the reverse: nobody can say which belong together. */
  | "batch arrays differ in length"
  /** The token is known by another standard: contracts with two standards log every transfer twice. */
  | "other standard";
