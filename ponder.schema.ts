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
  /** Its first event was a Transfer that doesn't index the token id, which ERC-20 tokens write too. */
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

/**
 * One token moved: each entry of a batch, each token of a range. A sale is a row of its own beside the transfer that
 * carried it, at the place of the exchange's log; its parties are the people, not the contracts between them.
 */
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
    /** Of a sale: for all units of this event, fees included, in the smallest unit. Null: logs don't tell it. */
    price: t.bigint(),
    /** Of a sale: the zero address is the chain's own currency. */
    currency_address: bytea(),
    /** Why a sale has no price ("barter" …), or what it is: "bundle", a share of one total; "fees on top", without these. */
    price_note: t.text(),
    /** Of a sale: the exchange, one of `Marketplace` in `src/sale.ts`. */
    marketplace: t.text(),
    /** Of a sale: its first fee recipient that isn't the seller, else the exchange's contract. */
    broker: bytea(),
    /** Of a sale: an offer was accepted. False: a listing was bought. Null: logs don't tell, or it is no sale. */
    is_offer: t.boolean(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.block_number, table.log_index, table.batch_index] }) }),
);

/**
 * The exchanges' logs of the transaction that was handled last, in order from 0: whoever starts in the middle of a
 * transaction finds here what its first half said. Rows of earlier transactions are left over and written over.
 */
export const saleStep = onchainTable("sale_step", (t) => ({
  step: t.integer().primaryKey(),
  block_number: t.int8({ mode: "number" }).notNull(),
  log_index: t.integer().notNull(),
  transaction_hash: bytea().notNull(),
  /** JSON; bigints are strings of digits with an n behind. */
  content: t.text().notNull(),
}));

/**
 * An order that was put on chain, or whatever happened on chain to one that was only signed: then it has no terms and
 * its `side` is null. Whether it could be filled now is for the reader to say: it depends on the time, the maker's
 * counter, holdings and approvals.
 */
export const tradeOrder = onchainTable(
  "trade_order",
  (t) => ({
    exchange_address: bytea().notNull(),
    /**
     * Seaport's hash; for a CryptoPunks offer the punk's index, for a bid on a punk that with the first bit set, for a
     * Zora ask a hash of its token. One of these that another has replaced has a hash of both.
     */
    order_hash: bytea().notNull(),
    marketplace: t.text().notNull(),
    /** Neither cancelled nor wholly filled. */
    is_open: t.boolean().notNull(),
    is_cancelled: t.boolean().notNull(),
    /** Units that were filled. */
    filled: t.bigint().notNull(),
    /** listing or offer. */
    side: t.text(),
    maker: bytea(),
    contract_address: bytea(),
    /** Null in an offer for any token of the contract. */
    token_id: t.bigint(),
    /** ERC721 or ERC1155, as the order says; null where its exchange needn't be told. */
    token_standard: t.text(),
    /** Units of the whole order. */
    quantity: t.bigint(),
    currency_address: bytea(),
    /** For all units, fees included, at the start and at the end. */
    start_amount: t.bigint(),
    end_amount: t.bigint(),
    /** For one unit, rounded up; null where it changes with time. */
    unit_price: t.bigint(),
    /** JSON array of [start, end] of each payment, where they change with time: each is rounded by itself. */
    amounts: t.text(),
    /** Unix seconds, the end exclusive. */
    start_time: t.int8({ mode: "number" }),
    end_time: t.int8({ mode: "number" }),
    /** The maker's counter that the order was made under. Null where the exchange has none. */
    counter: t.bigint(),
    /** Whom the maker must have approved, null where nobody. */
    operator: bytea(),
    /** The only one who may take it, null where anybody. */
    taker: bytea(),
    broker: bytea(),
    placed_timestamp: t.int8({ mode: "number" }),
    /** When it was filled last, or cancelled. */
    updated_timestamp: t.int8({ mode: "number" }).notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.exchange_address, table.order_hash] }) }),
);

/** A maker's counter at one Seaport, from the first time it was raised: orders made under another one are void. */
export const orderCounter = onchainTable(
  "order_counter",
  (t) => ({
    exchange_address: bytea().notNull(),
    maker: bytea().notNull(),
    counter: t.bigint().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.exchange_address, table.maker] }) }),
);

/**
 * Each time that a maker raised their counter at one Seaport, by what they raised it to. Counters only grow, so the first
 * one above an order's own is what ended it.
 */
export const raisedCounter = onchainTable(
  "raised_counter",
  (t) => ({
    exchange_address: bytea().notNull(),
    maker: bytea().notNull(),
    counter: t.bigint().notNull(),
    timestamp: t.int8({ mode: "number" }).notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.exchange_address, table.maker, table.counter] }) }),
);

/** Where the conduits of Seaport's keys are. */
export const conduit = onchainTable("conduit", () => ({
  conduit_key: bytea().primaryKey(),
  conduit_address: bytea().notNull(),
}));

/** Each time that somebody approved an operator for all of a contract's tokens, or took that back: the last one holds. */
export const approval = onchainTable(
  "approval",
  (t) => ({
    block_number: t.int8({ mode: "number" }).notNull(),
    log_index: t.integer().notNull(),
    contract_address: bytea().notNull(),
    owner: bytea().notNull(),
    operator: bytea().notNull(),
    is_approved: t.boolean().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.block_number, table.log_index] }) }),
);

/** The last bid in an X2Y2 auction: the log of its end doesn't repeat it. */
export const x2y2Bid = onchainTable("x2y2_bid", (t) => ({
  item_hash: bytea().primaryKey(),
  bidder: bytea().notNull(),
  amount: t.bigint().notNull(),
}));

/** The last bid in an auction of Zora's first house: the log of its end has what was left of it. */
export const zoraBid = onchainTable(
  "zora_bid",
  (t) => ({
    market_address: bytea().notNull(),
    auction_id: t.bigint().notNull(),
    amount: t.bigint().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.market_address, table.auction_id] }) }),
);

/** What a Foundation auction is about: the log of its end doesn't repeat it. */
export const foundationAuction = onchainTable(
  "foundation_auction",
  (t) => ({
    market_address: bytea().notNull(),
    auction_id: t.bigint().notNull(),
    contract_address: bytea().notNull(),
    token_id: t.bigint().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.market_address, table.auction_id] }) }),
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

/**
 * A contract said that metadata has changed: of one token, of a range of them (one row, whatever its size), or its own,
 * which is where there are no token ids.
 */
export const metadataUpdate = onchainTable(
  "metadata_update",
  (t) => ({
    block_number: t.int8({ mode: "number" }).notNull(),
    log_index: t.integer().notNull(),
    contract_address: bytea().notNull(),
    from_token_id: t.bigint(),
    to_token_id: t.bigint(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.block_number, table.log_index] }) }),
);
