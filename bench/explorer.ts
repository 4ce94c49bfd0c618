import type { KeyObject } from "node:crypto";
import { encodeCursor, type SortKey } from "../api/http/cursor.ts";
import { scopeOfList } from "../web/list-page.ts";
import { ms, placesAcross, startApiBench, type Target } from "./api-harness.ts";
import { CONTRACT, createApiDatabase, OWNER, TOKENS } from "./api-rows.ts";
import { startBenchPostgres } from "./database.ts";
import type { Figure } from "./figure.ts";
import { addListings } from "./market-rows.ts";

/** A page is answered within this, in milliseconds, for all but one of a hundred. */
const GOAL = { atMost: 50 };

/** How long each kind of page takes for one reader at a time. */
export async function benchExplorer(): Promise<Figure[]> {
  const server = await startBenchPostgres();
  const { url, sql, secret } = await createApiDatabase(server, { tokens: TOKENS });
  await addListings(sql);
  const bench = await startApiBench({ url });
  const figures: Figure[] = [];
  try {
    for (const { name, paths } of targetsOf(secret)) {
      const { p50, p99, bytes, errors } = await bench.load(name, paths, 1);
      if (errors > 0) throw new Error(`${name}: ${errors} answers were no 200.`);
      console.log(`${name}: ${ms(p50)}, 99 of 100 within ${ms(p99)}`);
      const detail = `half within ${ms(p50)}, ${Math.round(bytes / 100) / 10} kB`;
      figures.push({ figure: name, value: p99, unit: "ms", goal: GOAL, detail });
    }
  } finally {
    await bench.stop();
    await sql.end();
    await server.stop();
  }
  const slowest = figures.reduce((most, figure) => (figure.value > most.value ? figure : most));
  return [...figures, { ...slowest, figure: `slowest: ${slowest.figure}` }];
}

function targetsOf(secret: KeyObject): Target[] {
  const random = (write: (id: number) => string) => placesAcross(TOKENS - 300).map(write);
  const at = (path: string, scope: string, keyOf: (id: number) => SortKey) =>
    random((id) => `${path}?cursor=${encodeCursor(secret, { scope: scopeOfList(scope), key: keyOf(id) })}`);
  const collection = `/explorer/collection/mainnet/${CONTRACT}`;
  const token = (id: number) => `/explorer/token/mainnet/${CONTRACT}/${id}`;
  const account = `/explorer/account/mainnet/${OWNER}`;
  const stranger = (id: number) => `/explorer/account/mainnet/0x${id.toString(16).padStart(40, "f")}`;
  return [
    { name: "home", paths: ["/"] },
    { name: "status", paths: ["/explorer/status"] },
    { name: "keys", paths: ["/explorer/keys"] },
    { name: "search by name", paths: ["/explorer/search?q=contract", "/explorer/search?q=nothing-of-this-name"] },
    {
      name: "collections",
      paths: at("/explorer/collections/mainnet", "collections mainnet", (id) => [id % 1900, 0, CONTRACT]),
    },
    { name: "activity", paths: at("/explorer/events/mainnet", "events mainnet", (id) => [id + 200, 0, 0]) },
    { name: "collection, first page", paths: [collection] },
    { name: "collection", paths: at(collection, `tokens mainnet ${CONTRACT}`, (id) => [String(id)]) },
    { name: "collection, listed, first page", paths: [`${collection}/listed`] },
    {
      name: "collection, listed",
      paths: at(`${collection}/listed`, `listed mainnet ${CONTRACT}`, (id) => ["fixed", `${id}0000000000000`, "0x00"]),
    },
    {
      name: "collection, activity",
      paths: at(`${collection}/events`, `events mainnet ${CONTRACT}`, (id) => [id + 200, 0, 0]),
    },
    { name: "token", paths: random(token) },
    { name: "token, owners", paths: random((id) => `${token(id)}/owners`) },
    { name: "token, offers", paths: random((id) => `${token(id)}/offers`) },
    { name: "token, history", paths: random((id) => `${token(id)}/events`) },
    { name: "token, orders", paths: random((id) => `${token(id)}/orders`) },
    {
      name: "account",
      paths: at(account, `holdings mainnet ${OWNER} *`, (id) => [CONTRACT, String(id)]),
    },
    { name: "account, listed", paths: [`${account}/listed`] },
    { name: "account, activity", paths: [`${account}/events`] },
    { name: "account without any activity", paths: random((id) => `${stranger(id)}/events`) },
  ];
}
