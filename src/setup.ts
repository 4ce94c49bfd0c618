import { isTable } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import { sql } from "ponder";
import { ponder } from "ponder:registry";
import * as schema from "ponder:schema";

/** How long to wait for the end of history's load, in seconds. Ponder ends a statement after two minutes. */
const WAIT_SECONDS = 100;

/**
 * Replaces Ponder's empty tables by those that the history engine made. Ponder calls this in the transaction in which
 * it writes its first checkpoint: either both are done, and Ponder goes on after history's last block, or neither.
 * Tables only change their schema, which takes milliseconds, however large they are.
 */
ponder.on("Erc721:setup", async ({ context }) => {
  const historySchema = process.env.INDEXER_HISTORY_SCHEMA;
  if (!historySchema) return;
  const tables = Object.values(schema).flatMap((table) =>
    isTable(table) ? [getTableConfig(table as unknown as PgTable)] : [],
  );
  const [deployment] = tables.map((table) => table.schema);
  // Not a select, so that Ponder stops assuming that its cache has all rows (`indexer/ponder/patches/row-cache.ts`).
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
