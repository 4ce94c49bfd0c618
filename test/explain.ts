import postgres, { type Sql } from "postgres";
import { PLANNER_SETTINGS } from "../api/sql/database.ts";
import { withConnection } from "../postgres/pool.ts";

type Plan = {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Join Filter"?: number;
  Plans?: Plan[];
};

/** One step of a plan as it was run: its kind, its table, and rows that it read, whether it kept them or not. */
type PlanStep = { kind: string; table: string | undefined; rows: number };

/** The steps of a statement that `query` runs, by default of the last one, on a connection like those of the API. */
export async function explain(
  url: string,
  query: (sql: Sql) => Promise<unknown>,
  { at = -1 }: { at?: number } = {},
): Promise<PlanStep[]> {
  const plans = await explainStatement(url, query, { at });
  return plans.map((plan) => ({ kind: plan["Node Type"], table: plan["Relation Name"], rows: rowsOf(plan) }));
}

/** Rows that all steps of all statements of `work` read, whether they kept them or not, planned as `work` has them. */
export async function countRowsRead(url: string, work: (sql: Sql) => Promise<unknown>): Promise<number> {
  let rows = 0;
  const onnotice = ({ message = "" }) => {
    const found = /^duration: .* plan:\n(?<plan>.*)$/s.exec(message);
    if (!found) return;
    const { Plan: plan } = JSON.parse(found.groups!.plan!) as { Plan: Plan };
    for (const step of flatten(plan)) rows += rowsOf(step);
  };
  await withConnection(
    url,
    async (sql) => {
      await sql.unsafe(`
        load 'auto_explain';
        set auto_explain.log_min_duration = 0;
        set auto_explain.log_analyze = on;
        set auto_explain.log_timing = off;
        set auto_explain.log_format = json;
        set client_min_messages = log
      `);
      await work(sql);
    },
    { onnotice },
  );
  return rows;
}

/** A connection like those of the API. `debug`: is told each statement. */
export const connectLikeApi = (
  url: string,
  debug?: (connection: number, text: string, values: unknown[]) => void,
): Sql =>
  postgres(url, {
    max: 1,
    onnotice: () => {},
    fetch_types: false,
    connection: { search_path: "onchain_mainnet,offchain", ...PLANNER_SETTINGS },
    ...(debug && { debug }),
  });

/** The same as Postgres tells it, of the statement at a place among those that `query` runs; -1 is the last one. */
export async function explainStatement(
  url: string,
  query: (sql: Sql) => Promise<unknown>,
  { at }: { at: number },
): Promise<Plan[]> {
  const statements: { text: string; values: (string | null)[] }[] = [];
  // What the driver shows is serialized already.
  const sql = connectLikeApi(url, (_, text, values) => statements.push({ text, values: values as (string | null)[] }));
  await query(sql);
  const { text, values } = statements.at(at)!;
  const before = statements.at(at - 1);
  // Executed, because a statement that is explained itself is planned for its values: the API's plans don't know them.
  const parameters = values.map((value) => (value === null ? "null" : `'${value.replaceAll("'", "''")}'`));
  const asked = parameters.length > 0 ? `asked(${parameters.join(", ")})` : "asked";
  const [row] = await sql.begin(async (tx) => {
    // Those of `runLong`.
    if (before?.text.includes("set_config")) await tx.unsafe(before.text, before.values);
    await tx.unsafe(`prepare asked as ${text}`);
    return tx.unsafe(`explain (analyze, format json) execute ${asked}`);
  });
  await sql.end();
  const [{ Plan: plan }] = (row as unknown as { "QUERY PLAN": [{ Plan: Plan }] })["QUERY PLAN"];
  return flatten(plan);
}

const rowsOf = (plan: Plan): number =>
  plan["Actual Loops"] *
  (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0) + (plan["Rows Removed by Join Filter"] ?? 0));

const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)];
