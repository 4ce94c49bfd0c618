import { createSecretKey, type KeyObject } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeCursor, scopeOf, type SortKey } from "../api/cursor.ts";
import { findFreePort } from "../bin/postgres.ts";
import { migrate } from "../offchain/migrate.ts";
import { createOnchainTables } from "../test/database.ts";
import type { LoadResult } from "./api-load.ts";
import { addContracts, addTokens, CONTRACT, OWNER } from "./api-rows.ts";
import { BENCH_DIRECTORY, startBenchPostgres } from "./database.ts";
import { type Figure, type Goal, median } from "./figure.ts";
import { startProcess } from "./process.ts";

const TOKENS = Number(process.env.BENCH_API_TOKENS ?? 1_000_000);
const CONNECTIONS = 32;
const SECONDS = 4;
const ROUNDS = 3;
/** Different cursors, so that no run of them is in a cache by chance. */
const CURSORS = 2000;

type Target = { name: string; paths: string[]; goal?: Goal };

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
  const port = await findFreePort();
  const env = { DATABASE_URL: url, PORT: String(port), API_KEYS: "bench-key-0123", LOG_LEVEL: "warn" };
  const limits = { RATE_LIMIT: "1000000", RATE_BURST: "1000000", NODE_ENV: "production" };
  const api = startProcess({ name: "api", args: ["bin/api.ts"], env: { ...env, ...limits } });
  const constant = startProcess({ name: "constant", args: ["bench/constant-server.ts"], env: {} });
  const constantPort = Number((await constant.waitForLine("constant at ")).split(" ").at(-1));
  await untilReady(port);
  const load = (name: string, to: number, paths: string[], connections = CONNECTIONS) =>
    Promise.race([api.died, constant.died, measure({ name, port: to, paths, connections })]);

  const figures: Figure[] = [];
  try {
    const few = await load("100k", port, targetsOf(secret, TOKENS / 10)[1]?.paths ?? [], 1);
    await addTokens(sql, { from: TOKENS / 10 + 1, to: TOKENS });
    const targets = targetsOf(secret, TOKENS);
    const many = await load("1M", port, targets[1]?.paths ?? [], 1);
    figures.push({
      figure: "token page, time at 10 × the rows",
      value: many.p50 / few.p50,
      unit: "×",
      goal: { atMost: 1.2 },
      detail: `${ms(few.p50)} at ${TOKENS / 10}, ${ms(many.p50)} at ${TOKENS} tokens, 1 connection`,
    });

    const rates = new Map<string, LoadResult[]>();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { name, paths } of targets) {
        const ours = await load(name, port, paths);
        const size = Math.round(ours.bytes);
        const theirs = await load("constant", constantPort, [`/${size}`]);
        if (ours.errors + theirs.errors > 0) throw new Error(`${name}: ${ours.errors} answers were no 200.`);
        rates.set(name, [...(rates.get(name) ?? []), ours]);
        rates.set(`${name} constant`, [...(rates.get(`${name} constant`) ?? []), theirs]);
        console.log(
          `${name}: ${Math.round(ours.requestsPerSecond)} a second of ${size} bytes, constant ${Math.round(theirs.requestsPerSecond)}`,
        );
      }
    }
    const rateOf = (name: string) => median((rates.get(name) ?? []).map(({ requestsPerSecond }) => requestsPerSecond));
    for (const { name, goal } of targets) {
      const first = rates.get(name)?.[0];
      figures.push({
        figure: `${name} / constant`,
        value: rateOf(name) / rateOf(`${name} constant`),
        unit: "×",
        ...(goal ? { goal } : {}),
        detail: `${Math.round(rateOf(name))} a second of ${Math.round((first?.bytes ?? 0) / 100) / 10} kB, constant ${Math.round(rateOf(`${name} constant`))}; p50 ${ms(first?.p50)}, p99 ${ms(first?.p99)}`,
      });
    }
    figures.push({
      figure: "deep token page / first token page",
      value: rateOf("token page, deep") / rateOf("token page, first"),
      unit: "×",
      goal: { atLeast: 0.9 },
    });
  } finally {
    await Promise.all([api.stop(), constant.stop()]);
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

async function measure({
  name,
  port,
  paths,
  connections,
}: {
  name: string;
  port: number;
  paths: string[];
  connections: number;
}): Promise<LoadResult> {
  mkdirSync(BENCH_DIRECTORY, { recursive: true });
  const file = join(BENCH_DIRECTORY, `paths-${process.pid}.txt`);
  writeFileSync(file, paths.join("\n"));
  const args = ["bench/api-load.ts", String(port), file, String(connections), String(SECONDS)];
  const client = startProcess({ name: `load ${name}`, args, env: {} });
  try {
    return JSON.parse(await client.waitForLine("{")) as LoadResult;
  } finally {
    await client.stop();
  }
}

async function untilReady(port: number): Promise<void> {
  for (;;) {
    const status = await fetch(`http://127.0.0.1:${port}/ready`).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const ms = (value: number | undefined) => `${(value ?? Number.NaN).toFixed(1)} ms`;
