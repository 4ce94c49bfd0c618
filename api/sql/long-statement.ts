import type { Fragment, Sql } from "postgres";
import { LONG_STATEMENT_TIMEOUT_MS } from "./database.ts";

/** Memory to sort and hash a million rows without using the disk. Only a few connections run such statements. */
const MEMORY = "64MB";

/**
 * Runs a statement over a whole list, planned for many rows and with the time and memory that these take. `isOverSets`:
 * the statement joins lists. The planner may expect one row of a list, and would go through the other one again and
 * again. `isOverTables`: the statement reads whole tables. For a list no table is scanned, whatever the planner expects,
 * because a list is only a part of one.
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
