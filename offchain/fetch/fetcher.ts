import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "undici";
import { CROWDED, type Failure, failure, isOriginInTrouble, isOurs, MEDIA_BODY, type Postponed } from "./failure.ts";
import { createGateways } from "./gateways.ts";
import { createGuardedAgents, type Resolve } from "./guarded-agent.ts";
import { hostAndPortOf } from "./host.ts";
import { createHostLimits } from "./host-limits.ts";
import type { IsInTrouble } from "./host-record.ts";
import type { HttpDone } from "./http-get.ts";
import { fetchInto } from "./http.ts";
import { createSlots } from "./large-body-slots.ts";
import type { DisposableSink } from "./sink.ts";
import { formatSource, type Source } from "../uri/uri.ts";

/**
 * If a gateway hasn't answered after this time, the next one is asked, too, unless it sends so much within it: a second
 * one would only take a share of the line.
 */
const HEDGE_MS = 2500;
const QUICK_BYTES = 1_000_000;
/**
 * When to come back if there was no room for a large body: after this time, or up to twice that. It has waited 30 s
 * before.
 */
const CROWDED_SECONDS = 60;

/**
 * Limits for one CID or one name of IPFS or Arweave: requests at once, and how many may wait while nobody has had it. A
 * collection whose files are lost then keeps few gateways busy, each as long as it looks for them.
 */
const PER_CONTENT = { concurrency: 64, unproven: 2 };

/** A source that is asked of a server. */
export type NetworkSource = Source & { kind: "http" | "ipfs" | "ipns" | "arweave" };

/**
 * What was fetched, in the sink that took it, and its final URL. Where media came instead of a document, only its type
 * is known.
 */
export type Fetched<S> = {
  kind: "fetched";
  sink: S;
  from: string;
  contentType: string | undefined;
  isListing: boolean;
};

/** Fetches sources, many at once, so that none waits long for others. */
export type Fetcher = {
  /**
   * Fetches a source from wherever it is served. Never throws. `createSink` is called for each host that is asked. If
   * `refuse` returns a failure for what came, the next gateway is asked.
   */
  fetch: <S extends DisposableSink>(
    source: NetworkSource,
    options: FetchOptions<S>,
  ) => Promise<Fetched<S> | Failure | Postponed>;
  /** Whether twice as many fetches wait as there are slots. More needn't be added: there will be time for that. */
  isFull: () => boolean;
  /** How many fetches wait for slow ones of their own tenant. More can be added: those of others needn't wait. */
  countHeldUp: () => number;
  close: () => Promise<void>;
};

type FetchOptions<S> = {
  maxBytes: number;
  createSink: (host: string) => S;
  refuse?: (fetched: Fetched<S>) => Promise<Failure | undefined> | Failure | undefined;
  /** For whom it is, such as a contract: what is slow for one holds up no other one. */
  tenant?: string | undefined;
};

/** `concurrency`: fetches at once. `hedgeMs`: when the next gateway is asked beside one that is slow. */
export type FetcherOptions = {
  concurrency: number;
  allowHosts: string[];
  ipfsGateways: string[];
  arweaveGateways: string[];
  resolve?: Resolve;
  firstByteTimeoutMs?: number;
  hedgeMs?: number;
};

/** Creates a fetcher with all guards: only public addresses, limits per host, gateways by their health. */
export function createFetcher({
  concurrency,
  allowHosts,
  ipfsGateways,
  arweaveGateways,
  resolve,
  firstByteTimeoutMs,
  hedgeMs = HEDGE_MS,
}: FetcherOptions): Fetcher {
  const agents = createGuardedAgents({ allowHosts, resolve, firstByteTimeoutMs });
  const limits = createHostLimits({ concurrency });
  const contents = createHostLimits({ concurrency: Infinity, perHost: PER_CONTENT });
  const http = { agents, limits, enterDecoder: createSlots() };
  const gateways = createGateways({ ipfs: ipfsGateways, arweave: arweaveGateways });

  async function fetchUrl<S extends DisposableSink>(
    url: string,
    { maxBytes, createSink, refuse, tenant = "", signal, isInTrouble }: Attempt<S>,
  ): Promise<Fetched<S> | Failure | Postponed> {
    const target = URL.parse(url);
    if (!target) return failure("bad_uri", `${url.slice(0, 200)} is no URL.`);
    const start = performance.now();
    const { result, sink } = await fetchInto(http, { url: target, maxBytes, createSink, tenant, signal, isInTrouble });
    const durationMs = performance.now() - start;
    if (result.kind === "failure" && result.code === MEDIA_BODY) {
      gateways.report(url, { is: "served", durationMs });
      return { kind: "fetched", sink, from: gateways.nameOf(url), contentType: undefined, isListing: false };
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
      from: gateways.nameOf(result.url),
      contentType: result.contentType,
      isListing: isListing(result),
    };
    const refusal = await refuse?.(fetched);
    gateways.report(url, { is: refusal ? "failed" : "served", durationMs });
    if (!refusal) return fetched;
    sink.dispose?.();
    return refusal;
  }

  return {
    async fetch(source, options) {
      if (source.kind === "http") return laterIfCrowded(await fetchUrl(source.url, options));
      const isPaused = (url: string) => Number(limits.isPaused(hostAndPortOf(url), options.tenant ?? ""));
      // Paused gateways come last: they would only be postponed.
      const urls = gateways.urlsOf(source).toSorted((a, b) => isPaused(a) - isPaused(b));
      const attempt = (url: string, { signal, onBytes }: Watch) => {
        const createSink = (host: string) => watched(options.createSink(host), onBytes);
        return fetchUrl(url, { ...options, createSink, signal, isInTrouble: isGatewayInTrouble });
      };
      const all = () => race(urls, { hedgeMs, attempt, isPromising: limits.isPromising });
      return laterIfCrowded(
        // Whoever wants the same content has it or lacks it like all others.
        await contents.run(formatSource({ ...source, path: "" }), all, { tenant: "", isInTrouble: hasSearched }),
      );
    },
    isFull: limits.isFull,
    countHeldUp: limits.countHeldUp,
    close: async () => {
      const close = (agent: Agent) => Promise.race([agent.close(), sleep(500).then(() => agent.destroy())]);
      await Promise.all(Object.values(agents).map(close));
    },
  };
}

type Attempt<S> = FetchOptions<S> & { signal?: AbortSignal; isInTrouble?: IsInTrouble };

/**
 * A gateway searches for minutes for content that nobody has. If it has answered before, a timeout says nothing about
 * it.
 */
const isGatewayInTrouble: IsInTrouble = (failure, { hasAnswered }) =>
  isOriginInTrouble(failure) && !(failure.code === "timeout" && hasAnswered);

/** Whether content wasn't found within the time. */
const hasSearched = ({ code }: Failure) => code === "timeout" || code === "http_504";

/** `signal`: ends an attempt. `onBytes`: told how much has come. */
type Watch = { signal: AbortSignal; onBytes: (count: number) => void };

/** A sink that tells how much it is given. */
function watched<S extends DisposableSink>(sink: S, onBytes: (count: number) => void): S {
  const write = (chunk: Buffer) => {
    onBytes(chunk.length);
    return sink.write(chunk);
  };
  return { ...sink, write };
}

/** Asks URLs one after another, the next as soon as one fails or is slow. The first success cancels the others. */
async function race<S extends DisposableSink>(
  urls: string[],
  {
    hedgeMs,
    attempt,
    isPromising,
  }: {
    hedgeMs: number;
    attempt: (url: string, watch: Watch) => Promise<Fetched<S> | Failure | Postponed>;
    isPromising: (host: string) => boolean;
  },
): Promise<Fetched<S> | Failure | Postponed> {
  const controller = new AbortController();
  const outcomes: (Failure | Postponed)[] = [];
  const running = new Set<Promise<Fetched<S> | undefined>>();
  /** How much has come from all of them since they were last looked at. */
  let received = 0;
  const watch = { signal: controller.signal, onBytes: (count: number) => void (received += count) };
  const start = (url: string) => {
    const task: Promise<Fetched<S> | undefined> = attempt(url, watch).then((outcome) => {
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
      const next = received < QUICK_BYTES || running.size === 0 ? waiting.shift() : undefined;
      if (next !== undefined) start(next);
      received = 0;
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
  return summaryOf(outcomes, { isPromising });
}

/** The content is there, but we had no room for it: that isn't counted as an attempt. */
function laterIfCrowded<S>(result: Fetched<S> | Failure | Postponed): Fetched<S> | Failure | Postponed {
  if (result.kind !== "failure" || result.code !== CROWDED) return result;
  return { kind: "postponed", host: result.host, seconds: CROWDED_SECONDS * (1 + Math.random()) };
}

/**
 * One outcome for all URLs, where none succeeded. If several gateways don't have the content, it doesn't exist; a
 * gateway in trouble says nothing about it. One that is only to be asked later may have it: beside a gateway that has
 * few files, most of what another one gives slowly would else count as not found, and wait for a day in the end. Content
 * that a gateway was sending exists.
 */
function summaryOf(
  outcomes: (Failure | Postponed)[],
  { isPromising }: { isPromising: (host: string) => boolean },
): Failure | Postponed {
  const failures = outcomes.filter((outcome) => outcome.kind === "failure");
  const postponed = outcomes
    .filter((outcome) => outcome.kind === "postponed")
    .toSorted((a, b) => a.seconds - b.seconds);
  const crowded = failures.find(({ code }) => code === CROWDED);
  const answers = failures.filter((outcome) => !isOriginInTrouble(outcome));
  // "Not found" says more than a timeout, or than a body that was no document.
  const answered = answers.find(({ code }) => code.startsWith("http_4")) ?? answers[0];
  // The shortest Retry-After: a gateway that wants a day doesn't speak for the others.
  const [inTrouble] = failures.toSorted((a, b) => (a.retryAfterSeconds ?? 0) - (b.retryAfterSeconds ?? 0));
  const promising = postponed.find(({ host }) => isPromising(host));
  if (crowded) return crowded;
  // What another one has looked for in vain is nobody's, as a rule: it would be looked for as often.
  if (promising && !failures.some(hasSearched)) return { ...promising, ...(answered && { others: answered }) };
  return answered ?? inTrouble ?? postponed[0] ?? failure("no_gateway", "There is no gateway for it.");
}

/** Whether a gateway sent its list of a folder's files. That is a page about the content, not the content. */
function isListing({ url, headers }: HttpDone): boolean {
  const etag = headers["etag"];
  return /\/ip[fn]s\/|\.ip[fn]s\./.test(url) && typeof etag === "string" && /^"?(?:W\/)?"?DirIndex/i.test(etag);
}
