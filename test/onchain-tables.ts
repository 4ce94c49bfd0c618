import type { Hex } from "viem";
import { withConnection } from "../postgres/pool.ts";
import { PUBLISHED_TABLES } from "../indexer/publication.ts";
import type { Row } from "../src/store.ts";

/** All rows of all tables that readers see, each row as one text, in one order: equal tables are equal texts. */
export async function readAllRows(
  databaseUrl: string,
  { network = "mainnet" }: { network?: string } = {},
): Promise<Record<(typeof PUBLISHED_TABLES)[number], string[]>> {
  return withConnection(databaseUrl, async (sql) => {
    const entries: [string, string[]][] = [];
    for (const table of PUBLISHED_TABLES) {
      const rows = await sql<{ row: string }[]>`
        select t::text as row
        from ${sql(`onchain_${network}.${table}`)} t
        order by 1
      `;
      entries.push([table, rows.map(({ row }) => row)]);
    }
    return Object.fromEntries(entries) as Record<(typeof PUBLISHED_TABLES)[number], string[]>;
  });
}

/** A row of `token_event` that is no sale. */
export type EventRow = Omit<Row<"tokenEvent">, keyof SaleColumns>;
/** A row of `token_event` that is a sale. */
export type SaleRow = Omit<EventRow, "event_type"> & SaleColumns;
type SaleColumns = Pick<Row<"tokenEvent">, "price" | "currency_address" | "price_note" | "is_offer"> & {
  marketplace: string;
  broker: Hex;
};

/** The tables with typed values, in the order of the chain or of their keys. */
export type OnchainTables = {
  /** Movements: sales are apart. */
  events: EventRow[];
  tokens: Row<"token">[];
  ownerships: Row<"ownership">[];
  contracts: Row<"contract">[];
  skipped: Row<"skippedLog">[];
  updates: Row<"metadataUpdate">[];
};

/** Reads what readers see of a network. */
export async function readTables(
  databaseUrl: string,
  { network = "mainnet" }: { network?: string } = {},
): Promise<OnchainTables> {
  return withConnection(databaseUrl, async (sql) => {
    await sql.unsafe(`set search_path to onchain_${network}`);
    const read = async <T>(table: string, order: string): Promise<T[]> => {
      const rows = await sql.unsafe<Record<string, unknown>[]>(`select * from ${table} order by ${order}`);
      return [...rows].map((row) => typed(row) as T);
    };
    return {
      events: await read(`(${MOVEMENTS}) as movement`, "block_number, log_index, batch_index"),
      tokens: await read("token", "contract_address, token_id"),
      ownerships: await read("ownership", "contract_address, token_id, owner"),
      contracts: await read("contract", "block_number, log_index, contract_address"),
      skipped: await read("skipped_log", "block_number, log_index"),
      updates: await read("metadata_update", "block_number, log_index"),
    };
  });
}

/** Reads the sales that readers of a network see. */
export async function readSales(
  databaseUrl: string,
  { network = "mainnet" }: { network?: string } = {},
): Promise<SaleRow[]> {
  return withConnection(databaseUrl, async (sql) => {
    const rows = await sql<Record<string, unknown>[]>`
      select
        ${sql.unsafe(EVENT_COLUMNS)},
        price,
        currency_address,
        price_note,
        marketplace,
        broker,
        is_offer
      from ${sql(`onchain_${network}.token_event`)}
      where event_type = 'sale'
      order by
        block_number,
        log_index,
        batch_index
    `;
    return [...rows].map((row) => typed(row) as SaleRow);
  });
}

const EVENT_COLUMNS = `
  block_number,
  log_index,
  batch_index,
  timestamp,
  contract_address,
  token_id,
  from_address,
  to_address,
  quantity,
  transaction_hash
`;
const MOVEMENTS = `select event_type, ${EVENT_COLUMNS} from token_event where event_type <> 'sale'`;

/** numeric is read as bigint, bytea as 0x hex, int8 as number. */
function typed(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (Buffer.isBuffer(value)) return [name, `0x${value.toString("hex")}`];
      if (typeof value === "string" && /^-?\d+$/.test(value))
        return [name, /token_id|quantity|balance|^price$/.test(name) ? BigInt(value) : Number(value)];
      return [name, value];
    }),
  );
}
