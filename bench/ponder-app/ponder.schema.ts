import { onchainTable, primaryKey } from "ponder";

export const contract = onchainTable("contract", (t) => ({
  address: t.hex().primaryKey(),
  standard: t.text().notNull(),
  transfers: t.integer().notNull(),
}));

export const token = onchainTable(
  "token",
  (t) => ({
    contract: t.hex().notNull(),
    token_id: t.bigint().notNull(),
    owner: t.hex(),
    supply: t.bigint().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.contract, table.token_id] }) }),
);

export const ownership = onchainTable(
  "ownership",
  (t) => ({
    contract: t.hex().notNull(),
    token_id: t.bigint().notNull(),
    owner: t.hex().notNull(),
    balance: t.bigint().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.contract, table.token_id, table.owner] }) }),
);

export const tokenEvent = onchainTable(
  "event",
  (t) => ({
    block_number: t.integer().notNull(),
    log_index: t.integer().notNull(),
    batch_index: t.integer().notNull(),
    contract: t.hex().notNull(),
    token_id: t.bigint().notNull(),
    from_address: t.hex().notNull(),
    to_address: t.hex().notNull(),
    amount: t.bigint().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.block_number, table.log_index, table.batch_index] }) }),
);
