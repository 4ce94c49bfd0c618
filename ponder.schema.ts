/**
 * The on-chain tables of one network: a pure function of its logs.
 *
 * Addresses and hashes are `bytea`, because text of the same hex takes 1.8 times the room with its indexes. No index is
 * declared here: Ponder drops those at each restart and makes them again when it has caught up, and readers would scan
 * tables meanwhile. `indexer/indexes.ts` makes them once.
 */
import { customType } from "drizzle-orm/pg-core";
import { onchainTable, primaryKey } from "ponder";
import type { Hex } from "viem";

/** `bytea` that is 0x hex in the program. Postgres takes "\x…" as text, also in COPY, so no Buffer is made. */
const bytea = customType<{ data: Hex; driverData: string | Buffer }>({
  dataType: () => "bytea",
  toDriver: (value) => `\\x${value.slice(2)}`,
  fromDriver: (value) => (typeof value === "string" ? `0x${value.slice(2)}` : `0x${value.toString("hex")}`),
});

/** A contract with at least one event that counts; its place in the chain is that of its first one. */
export const contract = onchainTable("contract", (t) => ({
  contract_address: bytea().primaryKey(),
  /** ERC721, ERC1155 or CRYPTOPUNKS: the standard of its first event. */
  contract_type: t.text().notNull(),
  /** Its first event was a Transfer with nothing indexed, which early ERC-20 tokens wrote too. */
  is_first_generation: t.boolean().notNull(),
  block_number: t.int8({ mode: "number" }).notNull(),
  log_index: t.integer().notNull(),
}));

/** A token that ever moved. `owner` is null where many can hold it: see `ownership`. */
export const token = onchainTable(
  "token",
  (t) => ({
    contract_address: bytea().notNull(),
    token_id: t.bigint().notNull(),
    /** The standard of its first event; events of another standard repeat what that one says and are left out. */
    standard: t.text().notNull(),
    owner: bytea(),
    mint_address: bytea(),
    mint_block_number: t.int8({ mode: "number" }),
    mint_timestamp: t.int8({ mode: "number" }),
    mint_transaction_hash: bytea(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.contract_address, table.token_id] }) }),
);

/** Units of an ERC-1155 token that an account holds, or once held (0), and where it last received some. */
export const ownership = onchainTable(
  "ownership",
  (t) => ({
    contract_address: bytea().notNull(),
    token_id: t.bigint().notNull(),
    owner: bytea().notNull(),
    balance: t.bigint().notNull(),
    received_block_number: t.int8({ mode: "number" }).notNull(),
    received_log_index: t.integer().notNull(),
    received_batch_index: t.integer().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.contract_address, table.token_id, table.owner] }) }),
);

/** One token moved: each entry of a batch, each token of a range. */
export const tokenEvent = onchainTable(
  "token_event",
  (t) => ({
    block_number: t.int8({ mode: "number" }).notNull(),
    log_index: t.integer().notNull(),
    /** Place among the events of the same log. */
    batch_index: t.integer().notNull(),
    timestamp: t.int8({ mode: "number" }).notNull(),
    event_type: t.text().notNull(),
    contract_address: bytea().notNull(),
    token_id: t.bigint().notNull(),
    from_address: bytea().notNull(),
    to_address: bytea().notNull(),
    quantity: t.bigint().notNull(),
    transaction_hash: bytea().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.block_number, table.log_index, table.batch_index] }) }),
);

/** A log that claims to move tokens and is left out, wholly or in part: see `src/limits.ts`. */
export const skippedLog = onchainTable(
  "skipped_log",
  (t) => ({
    block_number: t.int8({ mode: "number" }).notNull(),
    log_index: t.integer().notNull(),
    contract_address: bytea().notNull(),
    reason: t.text().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.block_number, table.log_index] }) }),
);

/** Who the last Transfer log of a CryptoPunks market names: the PunkBought log after it may not. */
export const punkReceiver = onchainTable("punk_receiver", (t) => ({
  contract_address: bytea().primaryKey(),
  receiver: bytea().notNull(),
  block_number: t.int8({ mode: "number" }).notNull(),
  log_index: t.integer().notNull(),
}));

/** A contract said that metadata has changed: of one token, of a range of them (one row, whatever its size), or its own. */
export const metadataUpdate = onchainTable(
  "metadata_update",
  (t) => ({
    block_number: t.int8({ mode: "number" }).notNull(),
    log_index: t.integer().notNull(),
    contract_address: bytea().notNull(),
    from_token_id: t.bigint(),
    to_token_id: t.bigint(),
    /** token, range or contract. */
    kind: t.text().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.block_number, table.log_index] }) }),
);
