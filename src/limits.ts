/**
 * What one log may claim before it is left out and counted in `skipped_log`. A log costs its author a few thousand gas
 * whatever it claims, so that without limits a single one could fill any disk. How many logs claim the most is not limited:
 * a budget for a block would let one author use up another's.
 */

/** Tokens in one ConsecutiveTransfer. ERC-721A allows 5,000 a log; a hostile range has up to 2^256. */
export const MAX_RANGE_TOKENS = 10_000n;

/** Entries in one TransferBatch: the most that a block's gas has room for. */
export const MAX_BATCH_TOKENS = 10_000;

/** Units that one account can hold of one token: more than there can be, and sums of them still fit the column. */
export const MAX_UINT256 = 2n ** 256n - 1n;

/** Why a log is left out, as `skipped_log.reason` has it. */
export type SkipReason =
  /** ConsecutiveTransfer over more than MAX_RANGE_TOKENS. */
  | "range too large"
  /** ConsecutiveTransfer whose end is before its start. */
  | "range reversed"
  /** TransferBatch with more than MAX_BATCH_TOKENS entries. */
  | "batch too large"
  /** TransferBatch whose ids and values differ in number: nobody can say which belong together. */
  | "batch arrays differ in length"
  /** The token is known by another standard: contracts that speak two say everything twice. */
  | "other standard";
