import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { FROM_BUNDLE } from "../indexer/child-process.ts";
import { findFreePort } from "../indexer/free-port.ts";
import type { LoadResult } from "./api-load.ts";
import { BENCH_DIRECTORY } from "./database.ts";
import { type Figure, type Goal, median } from "./figure.ts";
import { startProcess } from "./process.ts";

const CONNECTIONS = 32;
const SECONDS = 4;
const READY_POLL_MS = 20;
const READY_TIMEOUT_MS = 60_000;
/** So many rounds, of which the median counts. */
export const ROUNDS = 3;

/** Places next to each other: of their pages no two are the same, so that none who ask at once share an answer. */
const CLOSE_PLACES = 200;
/** Such places, the lowest of which is `first`. */
export const placesFrom = (first: number) => Array.from({ length: CLOSE_PLACES }, (_, n) => first + n);
/** Such places, the highest of which is `last`. */
export const placesTo = (last: number) => placesFrom(last - CLOSE_PLACES + 1);

/** Places all over a list of `length`: so many that no run of them is in a cache by chance. */
const SCATTERED_PLACES = 2000;
/** Such places, from 1 to `length`. */
export const placesAcross = (length: number) =>
  Array.from({ length: SCATTERED_PLACES }, (_, n) => 1 + ((n * 7919 * 127) % length));

/** Places among the texts of the bare route, which has 100,000: each begins a whole page. */
const BARE_PLACES = 99_000;
type BareRoute = "one" | "page";

/**
 * Requests of one kind, taken in turn. `bare`: the route of `bare-route.ts` that is measured beside them, to tell what
 * is possible here.
 */
export type Target = { name: string; paths: string[]; goal?: Goal; bare?: BareRoute };

/** The API, a constant answer and bare routes beside it, each a process of its own. */
type ApiBench = {
  load: (name: string, paths: string[], connections?: number) => Promise<LoadResult>;
  /** Each target's rate against that of a constant of its size right after it, the median of some rounds. */
  compare: (targets: Target[]) => Promise<{ figures: Figure[]; ratioOf: (name: string, to: string) => number }>;
  stop: () => Promise<void>;
};

/** Starts the API on the database at `url`, with no limit of requests, and what it is compared with. */
export async function startApiBench({ url }: { url: string }): Promise<ApiBench> {
  const port = await findFreePort();
  const env = { DATABASE_URL: url, PORT: String(port), API_KEYS: "bench-key-0123", LOG_LEVEL: "warn" };
  const limits = { RATE_LIMIT: "1000000", RATE_BURST: "1000000", NODE_ENV: "production" };
  const api = startProcess({ name: "api", args: [...FROM_BUNDLE, "bin/api.ts"], env: { ...env, ...limits } });
  const constant = startProcess({ name: "constant", args: ["bench/constant-server.ts"], env: {} });
  const bare = startProcess({ name: "bare", args: ["bench/bare-route.ts"], env: { DATABASE_URL: url } });
  const constantPort = Number((await constant.waitForLine("constant at ")).split(" ").at(-1));
  const barePort = Number((await bare.waitForLine("bare at ")).split(" ").at(-1));
  await waitUntilReady(`http://127.0.0.1:${port}`);
  const loadFrom = (name: string, to: number, paths: string[], connections = CONNECTIONS) =>
    Promise.race([api.died, constant.died, bare.died, measure({ name, port: to, paths, connections })]);
  const load: ApiBench["load"] = (name, paths, connections) => loadFrom(name, port, paths, connections);

  /** A list of a million is made when it is first asked for: until then a request may be told to come again. */
  async function firstAnswer(name: string, path: string): Promise<void> {
    const askedAt = performance.now();
    const headers = { "x-api-key": "bench-key-0123" };
    for (;;) {
      const { status } = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
      if (status === 200) break;
      if (status !== 503) throw new Error(`${name}: the first answer is a ${status}.`);
      await sleep(100);
    }
    const seconds = (performance.now() - askedAt) / 1000;
    if (seconds > 1) console.log(`${name}: the first answer took ${seconds.toFixed(1)} s`);
  }

  async function loadBare(route: BareRoute, size: number): Promise<LoadResult> {
    const paths = placesAcross(BARE_PLACES).map((id) => `/${route}/${size}/${id}`);
    // Texts of this size are made first, if there are none.
    await fetch(`http://127.0.0.1:${barePort}${paths[0]}`).then((response) => response.arrayBuffer());
    const result = await loadFrom("bare", barePort, paths);
    if (result.errors > 0) throw new Error(`bare: ${result.errors} answers were no 200.`);
    return result;
  }

  async function compare(targets: Target[]) {
    for (const { name, paths } of targets) await firstAnswer(name, paths[0] ?? "/");
    const results = new Map<string, LoadResult[]>();
    const add = (name: string, result: LoadResult) => results.set(name, [...(results.get(name) ?? []), result]);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { name, paths, bare: route } of targets) {
        const ours = await load(name, paths);
        const size = Math.round(ours.bytes);
        const theirs = await loadFrom("constant", constantPort, [`/${size}`]);
        if (ours.errors + theirs.errors > 0) throw new Error(`${name}: ${ours.errors} answers were no 200.`);
        add(name, ours);
        add(`${name} constant`, theirs);
        if (route) {
          // The first round's size, so that its texts are used again.
          const bareSize = Math.round(results.get(name)?.[0]?.bytes ?? size);
          add(`${name} bare`, await loadBare(route, bareSize));
        }
        console.log(
          `${name}: ${Math.round(ours.requestsPerSecond)} a second of ${size} bytes, constant ${Math.round(theirs.requestsPerSecond)}`,
        );
      }
    }
    const rateOf = (name: string) =>
      median((results.get(name) ?? []).map(({ requestsPerSecond }) => requestsPerSecond));
    // Of runs that were next to each other: what else the machine does is about the same for both.
    const ratioOf = (name: string, to: string) =>
      median(
        (results.get(name) ?? []).map(
          ({ requestsPerSecond }, round) => requestsPerSecond / (results.get(to)?.[round]?.requestsPerSecond ?? 0),
        ),
      );
    const figures = targets.flatMap(({ name, goal, bare: route }): Figure[] => {
      const first = results.get(name)?.[0];
      const figure: Figure = {
        figure: `${name} / constant`,
        value: ratioOf(name, `${name} constant`),
        unit: "×",
        ...(goal ? { goal } : {}),
        detail: `${Math.round(rateOf(name))} a second of ${Math.round((first?.bytes ?? 0) / 100) / 10} kB, constant ${Math.round(rateOf(`${name} constant`))}; p50 ${ms(first?.p50)}, p99 ${ms(first?.p99)}`,
      };
      if (!route) return [figure];
      const possible: Figure = {
        figure: "  a bare route / constant",
        value: ratioOf(`${name} bare`, `${name} constant`),
        unit: "×",
        detail: `${Math.round(rateOf(`${name} bare`))} a second: finished texts found by key, and nothing else`,
      };
      return [figure, possible];
    });
    return { figures, ratioOf };
  }

  return { load, compare, stop: async () => void (await Promise.all([api.stop(), constant.stop(), bare.stop()])) };
}

/** Milliseconds as a text, `NaN ms` where nothing was measured. */
export const ms = (value: number | undefined) => `${(value ?? Number.NaN).toFixed(1)} ms`;

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

/** Settles once an API has something to answer from. @throws Error where it takes longer than a minute */
export async function waitUntilReady(apiUrl: string): Promise<void> {
  for (const deadline = Date.now() + READY_TIMEOUT_MS; Date.now() < deadline; await sleep(READY_POLL_MS)) {
    const isReady = await fetch(`${apiUrl}/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
  }
  throw new Error(`${apiUrl}/ready is not 200 after ${READY_TIMEOUT_MS} ms.`);
}
