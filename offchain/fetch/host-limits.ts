import PQueue from "p-queue";
import { type Failure, isOriginInTrouble, isOurs, type Postponed } from "./failure.ts";

/** Requests at a time to one host that hasn't answered yet: they try whether it lives at all. */
const FIRST_CONCURRENCY = 2;
/** Requests at a time to one that has, and how many may wait for one that hasn't, beyond which more are put off. */
const PER_HOST = { concurrency: 16, unproven: 8 };
/** What waits for one that has answered may take so long. */
const MAX_WAIT_MS = 5000;
const MAX_SILENCE_MS = 30_000;
/** Hosts slower than this, and those that haven't answered yet, share a part of all places: the others keep theirs. */
const SLOW_MS = 2000;
const SLOW_SHARE = 0.5;
/** So many times as many may wait for such a place; hosts that haven't answered yet are put off then, for how long. */
const CROWD_FACTOR = 2;
const CROWD_MS = 30_000;
/** Failures in a row after which a host is left alone, for how long at first and at most. */
const FAILURES_TO_PAUSE = 3;
const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 15 * 60_000;
/** Hosts that are remembered. */
const MAX_HOSTS = 20_000;

/** A lane's turn: then its place goes to whoever waits for one. */
const LANE_FETCHES = 8;
const LANE_MS = 200;

type Host = {
  name: string;
  most: typeof PER_HOST;
  /** Fetches that wait, in their order. They never throw. */
  waiting: (() => Promise<void>)[];
  /** Those that take it from there, one at a time each, and how many of them are at one; the others wait for a place. */
  lanes: number;
  busy: number;
  /** Lanes at a time. */
  concurrency: number;
  failures: number;
  /** When the last one of these ended. */
  troubledAt: number;
  pausedUntil: number;
  hasAnswered: boolean;
  firstAskedAt: number;
  /** Smoothed time of a request. */
  averageMs: number;
  /** When the next request that is put off may come. */
  nextSlot: number;
};

/** Whether a failure counts against the host, which has answered before or not. */
export type IsInTrouble = (failure: Failure, host: { hasAnswered: boolean }) => boolean;

export type HostLimits = {
  /**
   * Runs a request within the limits of its host and of all, and learns from its outcome, unless that is put off; or says
   * when to come back.
   */
  run: <T extends { kind: string }>(
    host: string,
    fetch: () => Promise<T | Failure>,
    isInTrouble?: IsInTrouble,
  ) => Promise<T | Failure | Postponed>;
  /** Whether a request now would be put off. */
  isPaused: (host: string) => boolean;
  /** Whether twice as many wait for a place as there are: by the time that they are through, more can be there. */
  isFull: () => boolean;
};

/**
 * How much at a time, in all and per host; what fails is left alone for a while. The queues hold lanes and not requests:
 * a place in one costs as much as a small document takes to be read.
 */
export function createHostLimits({
  concurrency,
  perHost = PER_HOST,
}: {
  concurrency: number;
  perHost?: typeof PER_HOST;
}): HostLimits {
  const all = new PQueue({ concurrency });
  const slowConcurrency = Math.max(1, Math.floor(concurrency * SLOW_SHARE));
  const slow = new PQueue({ concurrency: slowConcurrency });
  const hosts = new Map<string, Host>();

  function hostFor(name: string): Host {
    const known = hosts.get(name);
    if (known) return known;
    if (hosts.size >= MAX_HOSTS) forgetIdleHosts(hosts);
    const host: Host = {
      name,
      most: perHost,
      waiting: [],
      lanes: 0,
      busy: 0,
      concurrency: FIRST_CONCURRENCY,
      failures: 0,
      troubledAt: 0,
      pausedUntil: 0,
      hasAnswered: false,
      firstAskedAt: performance.now(),
      averageMs: 200,
      nextSlot: 0,
    };
    hosts.set(name, host);
    return host;
  }

  /** As many lanes as the host allows and its requests need. */
  function openLanes(host: Host): void {
    while (host.lanes < host.concurrency && host.lanes - host.busy < host.waiting.length) {
      host.lanes++;
      const run = () => all.add(() => runLane(host));
      void (host.hasAnswered && host.averageMs < SLOW_MS ? run() : slow.add(run));
    }
  }

  async function runLane(host: Host): Promise<void> {
    const end = performance.now() + LANE_MS;
    for (let fetches = 0; fetches < LANE_FETCHES && performance.now() < end; fetches++) {
      const next = host.waiting.shift();
      if (!next) break;
      host.busy++;
      await next();
      host.busy--;
      if (host.lanes > host.concurrency) break;
    }
    host.lanes--;
    openLanes(host);
  }

  async function runFetch<T extends { kind: string }>(
    host: Host,
    fetch: () => Promise<T | Failure>,
    isInTrouble: IsInTrouble,
  ): Promise<T | Failure | Postponed> {
    // It may have failed while this one waited.
    if (host.pausedUntil > performance.now()) return postpone(host);
    const startedAt = performance.now();
    const result = await fetch();
    learn(host, result, { startedAt, isInTrouble });
    openLanes(host);
    return result;
  }

  return {
    run<T extends { kind: string }>(
      name: string,
      fetch: () => Promise<T | Failure>,
      isInTrouble: IsInTrouble = isOriginInTrouble,
    ) {
      const host = hostFor(name);
      if (mustWait(host)) return Promise.resolve(postpone(host));
      // A name server makes up as many hosts as there are tokens: those that wait for them keep others from being claimed.
      if (!host.hasAnswered && slow.size >= slowConcurrency * CROWD_FACTOR)
        return Promise.resolve({ kind: "postponed", host: name, seconds: (CROWD_MS / 1000) * (1 + Math.random()) });
      return new Promise<T | Failure | Postponed>((resolve, reject) => {
        host.waiting.push(() => runFetch(host, fetch, isInTrouble).then(resolve, reject));
        openLanes(host);
      });
    },

    isPaused: (name) => mustWait(hostFor(name)),

    isFull: () => all.size >= concurrency * 2,
  };
}

function mustWait(host: Host): boolean {
  const { waiting, lanes, concurrency, pausedUntil, failures, hasAnswered, averageMs } = host;
  if (pausedUntil > performance.now() || (failures >= FAILURES_TO_PAUSE && lanes > 0)) return true;
  if (!hasAnswered) return waiting.length >= host.most.unproven;
  return (waiting.length * averageMs) / concurrency > MAX_WAIT_MS;
}

/** One after another at the host's own pace, so that what is put off doesn't come back all at once. */
function postpone(host: Host): Postponed {
  const now = performance.now();
  const isPaceKnown = host.hasAnswered || host.pausedUntil > now;
  // After a pause one request tries, but those that come with it are for what it opens again.
  const concurrency = host.hasAnswered ? host.most.concurrency : host.concurrency;
  if (isPaceKnown) host.nextSlot = Math.max(host.nextSlot, now, host.pausedUntil) + host.averageMs / concurrency;
  // Of one that hasn't answered yet nothing is known: as long again as it has been silent.
  const waitMs = isPaceKnown ? host.nextSlot - now : Math.min(now - host.firstAskedAt, MAX_SILENCE_MS);
  const seconds = Math.max(waitMs / 1000, 1);
  return { kind: "postponed", host: host.name, seconds: seconds * (1 + Math.random() / 4) };
}

function learn(
  host: Host,
  result: { kind: string },
  { startedAt, isInTrouble }: { startedAt: number; isInTrouble: IsInTrouble },
): void {
  if (result.kind === "postponed") return;
  const failure = result.kind === "failure" ? (result as Failure) : undefined;
  if (failure && isOurs(failure)) return;
  const now = performance.now();
  host.averageMs = host.hasAnswered ? host.averageMs * 0.9 + (now - startedAt) * 0.1 : now - startedAt;
  if (!failure || !isInTrouble(failure, host)) {
    host.failures = 0;
    host.hasAnswered = true;
    host.concurrency = host.most.concurrency;
    return;
  }
  // Those that were under way when another one failed are of the same trouble: 16 at once are no 14 pauses.
  if (startedAt >= host.troubledAt || host.failures < FAILURES_TO_PAUSE) host.failures++;
  host.troubledAt = now;
  host.concurrency = FIRST_CONCURRENCY;
  const asked = failure.retryAfterSeconds;
  const isTold = failure.code === "http_429" || asked !== undefined;
  if (!isTold && host.failures < FAILURES_TO_PAUSE) return;
  const doublings = Math.min(Math.max(host.failures - FAILURES_TO_PAUSE, 0), 10);
  const pause =
    asked === undefined ? Math.min(FIRST_PAUSE_MS * 2 ** doublings, MAX_PAUSE_MS) : Math.max(asked * 1000, 1000);
  host.pausedUntil = Math.max(host.pausedUntil, now + pause);
  // After the pause one request tries; the first that is answered opens the way again.
  host.concurrency = 1;
}

/** Those that aren't left alone; and where too many are, which one name server may have made up, the first of them. */
function forgetIdleHosts(hosts: Map<string, Host>): void {
  const now = performance.now();
  const idle = [...hosts.values()].filter(({ waiting, lanes }) => waiting.length === 0 && lanes === 0);
  for (const { name, pausedUntil } of idle) if (pausedUntil < now) hosts.delete(name);
  for (const { name } of idle) if (hosts.size > MAX_HOSTS / 2) hosts.delete(name);
}
