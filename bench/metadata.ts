/** How quickly one worker brings tokens from due to stored: documents of a web server, and documents in data: URIs. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Agent, request } from "undici";
import { address } from "../test/tokens.ts";
import { type BenchPostgres, startBenchPostgres } from "./database.ts";
import { type BenchOptions, type Figure, median } from "./figure.ts";
import type { MetadataOrigin } from "./metadata-origin.ts";
import { type BenchContract, CONCURRENCY, measureWorker } from "./metadata-worker.ts";

const DOCUMENTS = 20_000;
const DATA_URIS = 100_000;

type Run = { bare: number; stored: number; besideDead: number; data: number; growth: number; peakMb: number };

/** The figures of metadata. @throws WrongResultError where a token isn't stored as it was served */
export async function benchMetadata({ runs }: Pick<BenchOptions, "runs">): Promise<Figure[]> {
  const server = await startBenchPostgres();
  try {
    const done: Run[] = [];
    for (let run = 1; run <= runs; run++) {
      console.log(`run ${run} of ${runs}`);
      const figures = await measureRun(server);
      console.log(
        `  bare ${Math.round(figures.bare)}/s, stored ${Math.round(figures.stored)}/s, beside a dead host ${Math.round(figures.besideDead)}/s, data ${Math.round(figures.data)}/s`,
      );
      done.push(figures);
    }
    const of = (value: (run: Run) => number) => median(done.map(value));
    return [
      { figure: "bare undici loop, fetched and parsed", value: of(({ bare }) => bare), unit: "documents/s" },
      {
        figure: "tokens from due to stored, one worker",
        value: of(({ stored }) => stored),
        unit: "tokens/s",
        goal: { atLeast: 1000 },
        detail: "1.5 kB documents of 20 local hosts",
      },
      // Of figures that were measured beside each other: other work on the machine slows both.
      {
        figure: "  against the bare loop",
        value: of(({ stored, bare }) => stored / bare),
        unit: "×",
        goal: { atLeast: 0.35 },
      },
      {
        figure: "  with every 20th host dead, the others",
        value: of(({ stored, besideDead }) => besideDead / ((stored * 19) / 20)),
        unit: "×",
        goal: { atLeast: 0.9 },
      },
      {
        figure: "data: URIs, from due to stored",
        value: of(({ data }) => data),
        unit: "tokens/s",
        goal: { atLeast: 3000 },
        detail: `${DATA_URIS} tokens`,
      },
      {
        figure: "  memory at the end / after a quarter",
        value: of(({ growth }) => growth),
        unit: "×",
        goal: { atMost: 1.3 },
        detail: `peak ${Math.round(Math.max(...done.map(({ peakMb }) => peakMb)))} MB`,
      },
    ];
  } finally {
    await server.stop();
  }
}

async function measureRun(server: BenchPostgres): Promise<Run> {
  const measureHosts = (origin: MetadataOrigin, options = {}) =>
    measureWorker(server, { origin, contracts: hostContracts(origin, options), count: DOCUMENTS });

  return withOrigin([], async (origin) => {
    const before = await measureBare(origin);
    const stored = await measureHosts(origin);
    const after = await measureBare(origin);
    const besideDead = await withOrigin(["--dead"], (other) => measureHosts(other, { isLastDead: true }));
    const contracts = [{ contract: origin.dataContract, isDead: false }];
    const data = await measureWorker(server, { origin, contracts, count: DATA_URIS });
    return {
      bare: (before + after) / 2,
      stored: stored.rate,
      besideDead: besideDead.rate,
      data: data.rate,
      growth: data.growth,
      peakMb: data.peakMb,
    };
  });
}

async function withOrigin<T>(args: string[], use: (origin: MetadataOrigin) => Promise<T>): Promise<T> {
  const child = fork(join(import.meta.dirname, "metadata-origin.ts"), args);
  const [origin] = (await once(child, "message")) as [MetadataOrigin];
  try {
    return await use(origin);
  } finally {
    const ended = once(child, "exit");
    child.disconnect();
    await ended;
  }
}

function hostContracts({ hosts }: MetadataOrigin, { isLastDead = false } = {}): BenchContract[] {
  return hosts.map((_, i) => ({ contract: address(i + 1), isDead: isLastDead && i === hosts.length - 1 }));
}

/** The least that any worker has to do: fetch and parse, with the same concurrency, nothing stored. */
async function measureBare({ hosts }: MetadataOrigin): Promise<number> {
  const agent = new Agent({ connections: 16 });
  let next = 0;
  const loop = async () => {
    while (next < DOCUMENTS) {
      const id = next++;
      const { body } = await request(`http://${hosts[id % hosts.length]}/${id}.json`, { dispatcher: agent });
      JSON.parse(await body.text());
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: CONCURRENCY }, loop));
  const rate = (DOCUMENTS * 1000) / (performance.now() - start);
  await agent.close();
  return rate;
}
