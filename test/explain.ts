import postgres, { type Sql } from "postgres";
import { PLANNER_SETTINGS } from "../api/sql/database.ts";

/** One step of a plan as it was run: its kind, its table, and rows that it read, whether it kept them or not. */
type PlanStep = { kind: string; table: string | undefined; rows: number };

type Plan = {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Join Filter"?: number;
  Plans?: Plan[];
};

/** Plans of the statements that `query` runs, the last of them first run, on a connection like those of the API. */
export async function explain(url: string, query: (sql: Sql) => Promise<unknown>): Promise<PlanStep[]> {
  let last: { text: string; values: (string | null)[] } | undefined;
  const sql = postgres(url, {
    max: 1,
    onnotice: () => {},
    fetch_types: false,
    connection: { search_path: "onchain_mainnet,offchain", ...PLANNER_SETTINGS },
    debug: (_, text, values) => (last = { text, values: values as (string | null)[] }),
  });
  await query(sql);
  const text = last?.text ?? "";
  // Executed, because a statement that is explained itself is planned for its values: the API's plans don't know them.
  const values = (last?.values ?? []).map((value) => (value === null ? "null" : `'${value.replaceAll("'", "''")}'`));
  await sql.unsafe(`prepare asked as ${text}`);
  const [row] = await sql.unsafe(
    `explain (analyze, format json) execute asked${values.length > 0 ? `(${values.join(", ")})` : ""}`,
  );
  await sql.end();
  const [{ Plan: plan }] = (row as unknown as { "QUERY PLAN": [{ Plan: Plan }] })["QUERY PLAN"];
  return flatten(plan);
}

const flatten = (plan: Plan): PlanStep[] => [
  {
    kind: plan["Node Type"],
    table: plan["Relation Name"],
    rows:
      plan["Actual Loops"] *
      (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0) + (plan["Rows Removed by Join Filter"] ?? 0)),
  },
  ...(plan.Plans ?? []).flatMap(flatten),
];
