import { isTable } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import { sql } from "ponder";
import { ponder } from "ponder:registry";
import * as schema from "ponder:schema";

/** Ponder is started while history's last part is loaded. Less than the two minutes that Ponder gives a statement. */
const WAIT_SECONDS = 100;

/**
 * Puts the tables that the history engine made into the place of Ponder's empty ones. Ponder calls this in the
 * transaction in which it writes its first mark, so it goes on after history's last block, or nothing has happened. Only
 * names change: milliseconds, however large the tables are.
 */
ponder.on("Erc721:setup", async ({ context }) => {
  const historySchema = process.env.INDEXER_HISTORY_SCHEMA;
  if (!historySchema) return;
  const tables = Object.values(schema).flatMap((table) =>
    isTable(table) ? [getTableConfig(table as unknown as PgTable)] : [],
  );
  const [deployment] = tables.map((table) => table.schema);
  // One statement, because Ponder takes each apart. Seeing that it is no query, Ponder forgets that all rows are in memory.
  await context.db.sql.execute(
    sql.raw(`
      do $$ begin
        while not exists (
          select from offchain.deployment where schema_name = '${deployment}' and history_loaded_at is not null
        ) loop
          if clock_timestamp() > now() + interval '${WAIT_SECONDS} seconds' then
            raise exception 'History is not loaded yet';
          end if;
          perform pg_sleep(0.02);
        end loop;
        ${tables
          .map(
            ({ name }) => `
              drop table "${deployment}"."${name}";
              alter table "${historySchema}"."${name}" set schema "${deployment}";`,
          )
          .join("")}
        drop schema "${historySchema}" cascade;
      end $$
    `),
  );
});
