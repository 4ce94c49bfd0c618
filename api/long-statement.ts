import type { Fragment, Sql } from "postgres";

/** A list of a million tokens takes seconds, and nobody waits for it but the first who asks. */
const TIMEOUT_MS = 60_000;

/** Runs a statement over a whole list: planned for many rows, and given the time that they take. */
export async function runLong<Row extends object>(sql: Sql, statement: (sql: Sql) => Fragment): Promise<Row[]> {
  return (await sql.begin("read only", async (long) => {
    await long`
      select
        set_config('statement_timeout', ${String(TIMEOUT_MS)}, true),
        set_config('plan_cache_mode', 'force_custom_plan', true),
        set_config('enable_seqscan', 'on', true),
        set_config('enable_hashjoin', 'on', true),
        set_config('enable_mergejoin', 'on', true)
    `;
    return statement(long as unknown as Sql);
  })) as Row[];
}
