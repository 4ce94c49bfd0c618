import { createSecretKey, type KeyObject } from "node:crypto";
import { encodeCursor, scopeOf, type SortKey } from "../api/cursor.ts";
import { migrate } from "../offchain/migrate.ts";
import { createOnchainTables } from "../test/database.ts";
import { ms, startApiBench, type Target } from "./api-harness.ts";
import { addContracts, addTokens, CONTRACT, OWNER } from "./api-rows.ts";
import { startBenchPostgres } from "./database.ts";
import type { Figure } from "./figure.ts";

const TOKENS = Number(process.env.BENCH_API_TOKENS ?? 1_000_000);
/** Different cursors, so that no run of them is in a cache by chance. */
const CURSORS = 2000;

/** Speed of the read API against a constant answer of the same size in the same run. */
export async function benchApi(): Promise<Figure[]> {
  const server = await startBenchPostgres();
  const { url, sql } = await server.createDatabase();
  await migrate(sql);
  await createOnchainTables(sql, "onchain_mainnet");
  await createOnchainTables(sql, "onchain_testnet");
  await addContracts(sql);
  await addTokens(sql, { from: 1, to: TOKENS / 10 });

  const [row] = await sql<{ value: Buffer }[]>`select value from offchain.secret where name = 'cursor'`;
  const secret = createSecretKey(row?.value ?? Buffer.alloc(0));
  const bench = await startApiBench({ url });
  const figures: Figure[] = [];
  try {
    const few = await bench.load("100k", targetsOf(secret, TOKENS / 10)[1]?.paths ?? [], 1);
    await addTokens(sql, { from: TOKENS / 10 + 1, to: TOKENS });
    const targets = targetsOf(secret, TOKENS);
    const many = await bench.load("1M", targets[1]?.paths ?? [], 1);
    figures.push({
      figure: "token page, time at 10 × the rows",
      value: many.p50 / few.p50,
      unit: "×",
      goal: { atMost: 1.2 },
      detail: `${ms(few.p50)} at ${TOKENS / 10}, ${ms(many.p50)} at ${TOKENS} tokens, 1 connection`,
    });

    const { figures: compared, rateOf } = await bench.compare(targets);
    figures.push(...compared);
    figures.push({
      figure: "deep token page / first token page",
      value: rateOf("token page, deep") / rateOf("token page, first"),
      unit: "×",
      goal: { atLeast: 0.9 },
    });
  } finally {
    await bench.stop();
    await sql.end();
    await server.stop();
  }
  return figures;
}

/** The same pages for each size of the tables; the second is that of random cursors. */
function targetsOf(secret: KeyObject, tokens: number): Target[] {
  const cursor = (scope: string, key: SortKey) => `cursor=${encodeCursor(secret, { scope, key })}`;
  const random = (write: (id: number) => string) =>
    Array.from({ length: CURSORS }, (_, n) => write(1 + ((n * 7919 * 127) % (tokens - 300))));
  const tokensScope = scopeOf("tokens", "mainnet", CONTRACT, "*");
  const eventsScope = scopeOf("events", "mainnet", CONTRACT);
  const ownerScope = scopeOf("owner-tokens", "mainnet", OWNER, "*");
  const token = (id: number) => `/v1/tokens/${CONTRACT}?${cursor(tokensScope, [String(id)])}`;
  return [
    { name: "token page, first", paths: [`/v1/tokens/${CONTRACT}`] },
    { name: "token page, random cursor", paths: random(token), goal: { atLeast: 0.25 } },
    { name: "token page, deep", paths: [token(tokens - 200)] },
    {
      name: "event page, random cursor",
      paths: random((id) => `/v1/events/${CONTRACT}?${cursor(eventsScope, [id + 200, 0, 0])}`),
    },
    {
      name: "owner tokens, random cursor",
      paths: random(
        (id) => `/v1/owners/${OWNER}/tokens?${cursor(ownerScope, [CONTRACT, String(Math.min(id, tokens - 3000))])}`,
      ),
    },
    { name: "owner contracts", paths: [`/v1/owners/${OWNER}/contracts`] },
    { name: "single token", paths: random((id) => `/v1/tokens/${CONTRACT}/${id}`), goal: { atLeast: 0.5 } },
  ];
}
