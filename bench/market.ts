import type { KeyObject } from "node:crypto";
import { encodeCursor, scopeOf, type SortKey } from "../api/http/cursor.ts";
import { placesAcross, placesFrom, placesTo, startApiBench, type Target } from "./api-harness.ts";
import { CHAIN_ID, CONTRACT, createApiDatabase, OWNER, TOKENS } from "./api-rows.ts";
import { startBenchPostgres } from "./database.ts";
import type { Figure } from "./figure.ts";
import { addListings } from "./market-rows.ts";

/** Speed of the Orderbook's and the Marketplace's lists, every token of a large collection on sale. */
export async function benchMarket(): Promise<Figure[]> {
  const server = await startBenchPostgres();
  const { url, sql, secret } = await createApiDatabase(server, { tokens: TOKENS });
  await addListings(sql);
  const bench = await startApiBench({ url });
  try {
    const { figures, ratioOf } = await bench.compare(targetsOf(secret));
    const ratio = (figure: string, one: string, other: string): Figure => ({
      figure,
      value: ratioOf(one, other),
      unit: "×",
      goal: { atLeast: 0.9 },
    });
    return [
      ...figures,
      ratio("orderbook page near the end / near the start", "orderbook collection, end", "orderbook collection, start"),
      ratio("marketplace page near the end / near the start", "marketplace tokens, end", "marketplace tokens, start"),
    ];
  } finally {
    await bench.stop();
    await sql.end();
    await server.stop();
  }
}

function targetsOf(secret: KeyObject): Target[] {
  const goal = { atLeast: 0.25 };
  const cursor = (scope: string, key: SortKey) => `cursor=${encodeCursor(secret, { scope, key })}`;
  const random = (write: (id: number) => string, length: number) => placesAcross(length).map(write);
  const collection = (id: number) =>
    `/orderbook/tokens/collection/${CONTRACT}?${cursor(scopeOf("orderbook-collection", CONTRACT), [String(id)])}`;
  const owned = (id: number) =>
    `/orderbook/tokens/${OWNER}?${cursor(scopeOf("orderbook-owner", OWNER), [CONTRACT, String(id)])}`;
  const tokens = `/marketplace/collections/${CONTRACT}/${CHAIN_ID}/tokens`;
  const pages = TOKENS / 100;
  return [
    { name: "orderbook token", paths: random((id) => `/orderbook/token/${CONTRACT}/${id}`, TOKENS), goal, bare: "one" },
    { name: "orderbook collection, first", paths: [`/orderbook/tokens/collection/${CONTRACT}`] },
    { name: "orderbook collection, random cursor", paths: random(collection, TOKENS - 300), goal, bare: "page" },
    { name: "orderbook collection, start", paths: placesFrom(1).map(collection) },
    { name: "orderbook collection, end", paths: placesTo(TOKENS - 300).map(collection) },
    { name: "orderbook owner, random cursor", paths: random(owned, TOKENS - 3000), goal },
    { name: "marketplace collections", paths: random((id) => `/marketplace/collections?page=${id}`, 20), goal },
    { name: "marketplace tokens, first", paths: [tokens] },
    { name: "marketplace tokens, random page", paths: random((id) => `${tokens}?page=${id}`, pages - 1), goal },
    { name: "marketplace tokens, start", paths: placesFrom(1).map((page) => `${tokens}?page=${page}`) },
    { name: "marketplace tokens, end", paths: placesTo(pages - 1).map((page) => `${tokens}?page=${page}`) },
    {
      name: "marketplace tokens by price, random page",
      paths: random((id) => `${tokens}?buy_now=true&sort=price&page=${id}`, pages - 1),
      goal,
    },
    {
      name: "portfolio tokens, random page",
      paths: random((id) => `/marketplace/portfolio/${OWNER}?page=${id}`, TOKENS / 1000 - 1),
      goal,
    },
    {
      name: "portfolio collections",
      paths: random((id) => `/marketplace/portfolio/${OWNER}/collections?page=${id}`, 20),
      goal,
    },
  ];
}
