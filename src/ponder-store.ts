import { and, eq, lt, ne, sql } from "ponder";
import type { Context as RegistryContext } from "ponder:registry";
import * as schema from "ponder:schema";
import type { Hex } from "viem";
import { createIsIndexed } from "./indexed-contract.ts";
import { MAX_TRANSACTION_HOPS } from "./limits.ts";
import { holdersOf, type LogPlace, type Movement } from "./movement.ts";
import { contextOf, createSalesState } from "./record-sale.ts";
import type { Hop } from "./sale.ts";
import type { Context, Key, Store } from "./store.ts";

/** What Ponder gives a handler, as far as it is used. */
export type PonderContext = Pick<RegistryContext, "db" | "contracts"> & { chain: { id: number } };

/** One of each is enough, because a process follows one chain. */
const sales = createSalesState();
let isIndexed: Context["isIndexed"] | undefined;

/** The handlers' context on Ponder's tables. `signer`: who signed the transaction of the log that is handled. */
export function contextOfLog({ db, contracts, chain }: PonderContext, signer: Hex): Context {
  isIndexed ??= createIsIndexed(addressesOf(contracts, "Erc721"));
  return contextOf({ store: storeOf(db), sales, signer: () => signer, isIndexed, chainId: chain.id });
}

/** The contracts of a source, as `ponder.config.ts` lists them. */
function addressesOf(contracts: Record<string, { address?: Hex | readonly Hex[] }>, source: string) {
  const { address } = contracts[source]!;
  return address === undefined ? "*" : [address].flat();
}

/** Ponder's database with weaker types: its own have an overload for each table, where we pass a table by name. */
type Db = {
  find: (table: unknown, key: unknown) => Promise<never>;
  insert: (table: unknown) => {
    values: (row: unknown) => Promise<void> & { onConflictDoUpdate: (changes: unknown) => Promise<void> };
  };
  update: (table: unknown, key: unknown) => { set: (changes: unknown) => Promise<void> };
  delete: (table: unknown, key: unknown) => Promise<void>;
};

/** Ponder keeps a block's rows in memory until its end, and a block may have any number of logs of so many tokens. */
const MAX_LOADED = 20_000;
let loaded = 0;

/**
 * Reads the rows of movements together. Where many have been read since it last did so, it has Ponder write and forget
 * all before.
 */
async function load(
  { find }: Db,
  { sql: database }: PonderContext["db"],
  movements: readonly Movement[],
): Promise<void> {
  const tokens: Key<"token">[] = [];
  const ownerships: Key<"ownership">[] = [];
  for (const movement of movements) {
    const key = { contract_address: movement.contractAddress, token_id: movement.tokenId };
    tokens.push(key);
    for (const owner of Object.values(holdersOf(movement))) ownerships.push({ ...key, owner });
  }
  const count = tokens.length + ownerships.length;
  loaded += count;
  if (loaded > MAX_LOADED) {
    loaded = count;
    // Which it does before a statement that isn't a select.
    await database.execute(sql`do $$ begin end $$`);
  }
  // Several keys: see `indexer/ponder/patches/row-cache.ts`.
  await find(schema.token, tokens);
  await find(schema.ownership, ownerships);
}

function storeOf(ponderDb: PonderContext["db"]): Store {
  const db = ponderDb as unknown as Db;
  return {
    find: (table, key) => db.find(schema[table], key),
    insert: (table, row) => db.insert(schema[table]).values(row),
    upsert: (table, row, changes) => db.insert(schema[table]).values(row).onConflictDoUpdate(changes),
    update: (table, key, changes) => db.update(schema[table], key).set(changes),
    delete: (table, key) => db.delete(schema[table], key),
    load: (movements) => load(db, ponderDb, movements),
    listHops: (place, options) => listHops(ponderDb, place, options),
  };
}

async function listHops(
  { sql }: PonderContext["db"],
  { blockNumber, transactionHash }: LogPlace,
  { end }: { end: number },
): Promise<Hop[]> {
  const { tokenEvent } = schema;
  const rows = await sql
    .select()
    .from(tokenEvent)
    .where(
      and(
        eq(tokenEvent.block_number, blockNumber),
        eq(tokenEvent.transaction_hash, transactionHash),
        lt(tokenEvent.log_index, end),
        ne(tokenEvent.event_type, "sale"),
      ),
    )
    .orderBy(tokenEvent.log_index, tokenEvent.batch_index)
    .limit(MAX_TRANSACTION_HOPS);
  return rows.map((row) => ({
    logIndex: row.log_index,
    contractAddress: row.contract_address,
    tokenId: row.token_id,
    from: row.from_address,
    to: row.to_address,
    quantity: row.quantity,
  }));
}
