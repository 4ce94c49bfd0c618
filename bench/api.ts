import type { KeyObject } from "node:crypto";
import { encodeCursor, scopeOf, type SortKey } from "../api/http/cursor.ts";
import { ms, placesAcross, placesFrom, placesTo, ROUNDS, startApiBench, type Target } from "./api-harness.ts";
import type { LoadResult } from "./api-load.ts";
import { CONTRACT, createApiDatabase, OWNER, TOKENS } from "./api-rows.ts";
import { startBenchPostgres } from "./database.ts";
import { type Figure, median } from "./figure.ts";

/** Speed of the read API against a constant answer of the same size in the same run. */
export async function benchApi(): Promise<Figure[]> {
  const server = await startBenchPostgres();
  const small = await createApiDatabase(server, { tokens: TOKENS / 10 });
  const large = await createApiDatabase(server, { tokens: TOKENS });
  const benches = [await startApiBench(small), await startApiBench(large)] as const;
  try {
    const targets = targetsOf(large.secret, TOKENS);
    const few: LoadResult[] = [];
    const many: LoadResult[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      few.push(await benches[0].load("100k", targetsOf(small.secret, TOKENS / 10)[1]?.paths ?? [], 1));
      many.push(await benches[1].load("1M", targets[1]?.paths ?? [], 1));
    }
    const p50 = (results: LoadResult[]) => median(results.map((result) => result.p50));
    const { figures, ratioOf } = await benches[1].compare(targets);
    return [
      {
        figure: "token page, time at 10 × the rows",
        value: median(many.map((result, round) => result.p50 / (few[round]?.p50 ?? 0))),
        unit: "×",
        goal: { atMost: 1.2 },
        detail: `${ms(p50(few))} at ${TOKENS / 10}, ${ms(p50(many))} at ${TOKENS} tokens, 1 connection`,
      },
      ...figures,
      {
        figure: "token page near the end / near the start",
        value: ratioOf("token page, near the end", "token page, near the start"),
        unit: "×",
        goal: { atLeast: 0.9 },
      },
    ];
  } finally {
    await Promise.all(benches.map((bench) => bench.stop()));
    await Promise.all([small.sql.end(), large.sql.end()]);
    await server.stop();
  }
}

/** The same pages for each size of the tables; the second is that of random cursors. */
function targetsOf(secret: KeyObject, tokens: number): Target[] {
  const cursor = (scope: string, key: SortKey) => `cursor=${encodeCursor(secret, { scope, key })}`;
  const random = (write: (id: number) => string) => placesAcross(tokens - 300).map(write);
  const tokensScope = scopeOf("tokens", "mainnet", CONTRACT, "*");
  const eventsScope = scopeOf("events", "mainnet", CONTRACT);
  const ownerScope = scopeOf("owner-tokens", "mainnet", OWNER, "*");
  const token = (id: number) => `/v1/tokens/${CONTRACT}?${cursor(tokensScope, [String(id)])}`;
  return [
    // The same for all: they share its answers.
    { name: "token page, first", paths: [`/v1/tokens/${CONTRACT}`] },
    { name: "token page, random cursor", paths: random(token), goal: { atLeast: 0.25 }, bare: "page" },
    { name: "token page, near the start", paths: placesFrom(1).map(token) },
    { name: "token page, near the end", paths: placesTo(tokens - 300).map(token) },
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
    { name: "single token, the same for all", paths: [`/v1/tokens/${CONTRACT}/1`] },
    {
      name: "single token",
      paths: random((id) => `/v1/tokens/${CONTRACT}/${id}`),
      goal: { atLeast: 0.5 },
      bare: "one",
    },
  ];
}
