import type { Fragment, Sql } from "postgres";
import { LONG_STATEMENT_TIMEOUT_MS } from "./database.ts";

/** For sorting and hashing a million rows without going to disk. Few connections run such. */
const MEMORY = "64MB";

/**
 * Runs a statement over a whole list: planned for many rows, and given the time and the memory that they take.
 * `isOverSets`: it joins lists, of which the planner may expect one row, and go through one of them again and again.
 * `isOverTables`: it reads whole tables. A list is never more than a part of one, though the planner may expect more.
 */
export async function runLong<Row extends object>(
  sql: Sql,
  statement: (sql: Sql) => Fragment,
  { isOverSets = false, isOverTables = false }: { isOverSets?: boolean; isOverTables?: boolean } = {},
): Promise<Row[]> {
  return (await sql.begin("read only", async (long) => {
    await long`
      select
        set_config('statement_timeout', ${String(LONG_STATEMENT_TIMEOUT_MS)}, true),
        set_config('work_mem', ${MEMORY}, true),
        set_config('plan_cache_mode', 'force_custom_plan', true),
        set_config('enable_seqscan', ${isOverTables ? "on" : "off"}, true),
        set_config('enable_hashjoin', 'on', true),
        set_config('enable_nestloop', ${isOverSets ? "off" : "on"}, true)
    `;
    return statement(long as unknown as Sql);
  })) as Row[];
}
