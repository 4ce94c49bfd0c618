import type { Fragment, ISql } from "postgres";

/**
 * SQL of the hash of the event by which a token or contract came, of columns or other expressions. After a reorg it may
 * have come by another one. With the timestamp, because the same transaction may be in another block then, on which art
 * may depend.
 */
export const eventHash = (sql: ISql, { timestamp, transactionHash }: Record<"timestamp" | "transactionHash", string>) =>
  sql.unsafe(`hashtextextended(concat(${timestamp}, ${transactionHash}), 0)`) as Fragment;
