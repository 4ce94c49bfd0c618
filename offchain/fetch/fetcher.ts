import { setTimeout as sleep } from "node:timers/promises";
import { CROWDED, type Failure, failure, isOriginInTrouble, isOurs, MEDIA_BODY, type Postponed } from "./failure.ts";
import { createGateways } from "./gateways.ts";
import { createGuardedAgent, type Resolve } from "./guarded-agent.ts";
import { hostAndPortOf } from "./host.ts";
import { createHostLimits, type IsInTrouble } from "./host-limits.ts";
import type { HttpDone } from "./http-get.ts";
import { fetchInto } from "./http.ts";
import { createSlots } from "./large-body-slots.ts";
import type { DisposableSink } from "./sink.ts";
import { formatSource, type Source } from "../uri/uri.ts";

/** After this long without an answer the next gateway is asked too. */
const HEDGE_MS = 2500;
/** After this long, or up to twice as long, there may be room again for what is large. It has waited for 30 s already. */
const CROWDED_SECONDS = 60;

/**
 * Requests at a time for what lies under one CID or name of IPFS or Arweave, and how many may wait for one that nobody has
 * had yet: of a collection whose files are lost few keep gateways busy, each for as long as those look for it.
 */
const PER_CONTENT = { concurrency: 64, unproven: 2 };

type NetworkSource = Source & { kind: "http" | "ipfs" | "ipns" | "arweave" };

/** What arrived, in the sink that took it, and from which URL; of media where a document should be, only its kind. */
export type Fetched<S> = {
  kind: "fetched";
  sink: S;
  from: string;
  contentType: string | undefined;
  isListing: boolean;
};

export type Fetcher = {
  /**
   * Fetches content from wherever it is served. Never throws. `createSink` is called for each host that is asked. What
   * `refuse` has something against is a failure, after which the next gateway is asked.
   */
  fetch: <S extends DisposableSink>(
    source: NetworkSource,
    options: FetchOptions<S>,
  ) => Promise<Fetched<S> | Failure | Postponed>;
  /** Whether twice as many fetches wait for a place as there are: by the time that they are through, more can be there. */
  isFull: () => boolean;
  close: () => Promise<void>;
};

type FetchOptions<S> = {
  maxBytes: number;
  createSink: (host: string) => S;
  refuse?: (fetched: Fetched<S>) => Failure | undefined;
};

export type FetcherOptions = {
  concurrency: number;
  allowHosts: string[];
  ipfsGateways: string[];
  arweaveGateways: string[];
  resolve?: Resolve;
  firstByteTimeoutMs?: number;
  hedgeMs?: number;
};

/** HTTP with all its guards: public addresses only, limits per host, gateways by health. */
export function createFetcher({
  concurrency,
  allowHosts,
  ipfsGateways,
  arweaveGateways,
  resolve,
  firstByteTimeoutMs,
  hedgeMs = HEDGE_MS,
}: FetcherOptions): Fetcher {
  const agent = createGuardedAgent({ allowHosts, resolve, firstByteTimeoutMs });
  const limits = createHostLimits({ concurrency });
  const contents = createHostLimits({ concurrency: Infinity, perHost: PER_CONTENT });
  const http = { agent, limits, enterDecoder: createSlots() };
  const gateways = createGateways({ ipfs: ipfsGateways, arweave: arweaveGateways });

  async function fetchUrl<S extends DisposableSink>(
    url: string,
    { maxBytes, createSink, refuse, signal, isInTrouble }: Attempt<S>,
  ): Promise<Fetched<S> | Failure | Postponed> {
    const target = URL.parse(url);
    if (!target) return failure("bad_uri", `${url.slice(0, 200)} is no URL.`);
    const start = performance.now();
    const { result, sink } = await fetchInto(http, { url: target, maxBytes, createSink, signal, isInTrouble });
    const durationMs = performance.now() - start;
    if (result.kind === "failure" && result.code === MEDIA_BODY) {
      gateways.report(url, { is: "served", durationMs });
      return { kind: "fetched", sink, from: url, contentType: undefined, isListing: false };
    }
    if (result.kind !== "done") {
      sink.dispose?.();
      if (result.kind === "failure" && result.code !== CROWDED)
        gateways.report(url, { is: isOurs(result) ? "cancelled" : "failed", durationMs });
      return result;
    }
    const fetched = {
      kind: "fetched" as const,
      sink,
      from: result.url,
      contentType: result.contentType,
      isListing: isListing(result),
    };
    const refusal = refuse?.(fetched);
    gateways.report(url, { is: refusal ? "failed" : "served", durationMs });
    if (!refusal) return fetched;
    sink.dispose?.();
    return refusal;
  }

  return {
    async fetch(source, options) {
      if (source.kind === "http") return laterIfCrowded(await fetchUrl(source.url, options));
      // Paused ones last: they would only say so.
      const urls = gateways
        .urlsOf(source)
        .toSorted((a, b) => Number(limits.isPaused(hostAndPortOf(a))) - Number(limits.isPaused(hostAndPortOf(b))));
      const attempt = (url: string, signal: AbortSignal) =>
        fetchUrl(url, { ...options, signal, isInTrouble: isGatewayInTrouble });
      const all = () => race(urls, { hedgeMs, attempt });
      return laterIfCrowded(await contents.run(formatSource({ ...source, path: "" }), all, isLost));
    },
    isFull: limits.isFull,
    close: () => Promise.race([agent.close(), sleep(500).then(() => agent.destroy())]),
  };
}

type Attempt<S> = FetchOptions<S> & { signal?: AbortSignal; isInTrouble?: IsInTrouble };

/** Gateways look for minutes for what nobody has: those that have answered say nothing of themselves by that. */
const isGatewayInTrouble: IsInTrouble = (failure, { hasAnswered }) =>
  isOriginInTrouble(failure) && !(failure.code === "timeout" && hasAnswered);

/** Whether all that can be said of content is that it was looked for in vain. */
const isLost: IsInTrouble = ({ code }) => code === "timeout" || code === "http_504";

/** Asks one after another, the next as soon as one fails or is slow; the first that serves ends the others. */
async function race<S extends DisposableSink>(
  urls: string[],
  {
    hedgeMs,
    attempt,
  }: { hedgeMs: number; attempt: (url: string, signal: AbortSignal) => Promise<Fetched<S> | Failure | Postponed> },
): Promise<Fetched<S> | Failure | Postponed> {
  const controller = new AbortController();
  const outcomes: (Failure | Postponed)[] = [];
  const running = new Set<Promise<Fetched<S> | undefined>>();
  const start = (url: string) => {
    const task: Promise<Fetched<S> | undefined> = attempt(url, controller.signal).then((outcome) => {
      running.delete(task);
      if (outcome.kind === "fetched") return outcome;
      outcomes.push(outcome);
      return undefined;
    });
    running.add(task);
  };

  const waiting = [...urls];
  try {
    while (waiting.length > 0 || running.size > 0) {
      const next = waiting.shift();
      if (next !== undefined) start(next);
      const timer = new AbortController();
      const isLast = waiting.length === 0;
      const pause = isLast ? [] : [sleep(hedgeMs, undefined, { signal: timer.signal }).catch(() => undefined)];
      const winner = await Promise.race([...running, ...pause]);
      timer.abort();
      if (winner) {
        for (const task of running) void task.then((late) => late?.sink.dispose?.());
        return winner;
      }
    }
  } finally {
    controller.abort();
  }
  return summaryOf(outcomes);
}

/** It was there, but we had no room: no attempt. */
function laterIfCrowded<S>(result: Fetched<S> | Failure | Postponed): Fetched<S> | Failure | Postponed {
  if (result.kind !== "failure" || result.code !== CROWDED) return result;
  return { kind: "postponed", host: result.host, seconds: CROWDED_SECONDS * (1 + Math.random()) };
}

/**
 * All said no: content that several gateways don't have isn't there; one in trouble says nothing about it. What one was
 * sending is there.
 */
function summaryOf(outcomes: (Failure | Postponed)[]): Failure | Postponed {
  const failures = outcomes.filter((outcome) => outcome.kind === "failure");
  const postponed = outcomes.filter((outcome) => outcome.kind === "postponed");
  const crowded = failures.find(({ code }) => code === CROWDED);
  const answers = failures.filter((outcome) => !isOriginInTrouble(outcome));
  // That there is no such thing says more than that it wasn't found in time, or was no document.
  const answered = answers.find(({ code }) => code.startsWith("http_4")) ?? answers[0];
  // One that wants to be left alone for a day is no reason to leave the others alone.
  const [inTrouble] = failures.toSorted((a, b) => (a.retryAfterSeconds ?? 0) - (b.retryAfterSeconds ?? 0));
  const soonest = postponed.toSorted((a, b) => a.seconds - b.seconds)[0];
  return crowded ?? answered ?? inTrouble ?? soonest ?? failure("no_gateway", "There is no gateway for it.");
}

/** A gateway's list of the files in a folder is a page about the content, not the content. */
function isListing({ url, headers }: HttpDone): boolean {
  const etag = headers["etag"];
  return /\/ip[fn]s\/|\.ip[fn]s\./.test(url) && typeof etag === "string" && /^"?(?:W\/)?"?DirIndex/i.test(etag);
}
