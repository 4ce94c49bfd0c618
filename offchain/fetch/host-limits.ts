import PQueue from "p-queue";
import { type Failure, isOriginInTrouble, type Postponed } from "./failure.ts";

/** Requests at a time to one host: the first ones try whether it lives at all. */
const FIRST_CONCURRENCY = 2;
const HOST_CONCURRENCY = 16;
/** Requests that wait for one host, beyond which more are put off: in time, or in number before it has answered. */
const MAX_WAIT_MS = 5000;
const MAX_UNPROVEN = 8;
const MAX_SILENCE_MS = 30_000;
/** Hosts slower than this, and those that haven't answered yet, share a part of all places: the others keep theirs. */
const SLOW_MS = 2000;
const SLOW_SHARE = 0.5;
/** Failures in a row after which a host is left alone, for how long at first and at most. */
const FAILURES_TO_PAUSE = 3;
const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 15 * 60_000;
/** Hosts that are remembered. */
const MAX_HOSTS = 20_000;

type Host = {
  queue: PQueue;
  failures: number;
  pausedUntil: number;
  hasAnswered: boolean;
  firstAskedAt: number;
  /** Smoothed time of a request. */
  averageMs: number;
  /** When the next request that is put off may come. */
  nextSlot: number;
};

export type HostLimits = {
  /** Runs a request within the limits of its host and of all, and learns from its outcome; or says when to come back. */
  run: <T extends { kind: string }>(
    host: string,
    fetch: () => Promise<T | Failure>,
  ) => Promise<T | Failure | Postponed>;
  /** Whether a request now would be put off. */
  isPaused: (host: string) => boolean;
  /** Requests under way and waiting. */
  inFlight: () => number;
};

/** How much at a time, in all and per host; what fails is left alone for a while. */
export function createHostLimits({ concurrency }: { concurrency: number }): HostLimits {
  const all = new PQueue({ concurrency });
  const slow = new PQueue({ concurrency: Math.max(1, Math.floor(concurrency * SLOW_SHARE)) });
  const hosts = new Map<string, Host>();

  function hostFor(name: string): Host {
    const known = hosts.get(name);
    if (known) return known;
    if (hosts.size >= MAX_HOSTS) forgetIdleHosts(hosts);
    const host: Host = {
      queue: new PQueue({ concurrency: FIRST_CONCURRENCY }),
      failures: 0,
      pausedUntil: 0,
      hasAnswered: false,
      firstAskedAt: Date.now(),
      averageMs: 200,
      nextSlot: 0,
    };
    hosts.set(name, host);
    return host;
  }

  return {
    async run(name, fetch) {
      const host = hostFor(name);
      if (mustWait(host)) return postpone(name, host);
      return host.queue.add(async () => {
        // It may have failed while this one waited.
        if (host.pausedUntil > Date.now()) return postpone(name, host);
        const run = () =>
          all.add(async () => {
            const start = performance.now();
            const result = await fetch();
            learn(host, result, performance.now() - start);
            return result;
          });
        return host.hasAnswered && host.averageMs < SLOW_MS ? run() : slow.add(run);
      });
    },

    isPaused: (name) => mustWait(hostFor(name)),

    inFlight: () => all.pending + all.size,
  };
}

function mustWait({ queue, pausedUntil, failures, hasAnswered, averageMs }: Host): boolean {
  if (pausedUntil > Date.now() || (failures >= FAILURES_TO_PAUSE && queue.pending > 0)) return true;
  if (!hasAnswered) return queue.size >= MAX_UNPROVEN;
  return (queue.size * averageMs) / queue.concurrency > MAX_WAIT_MS;
}

/** One after another at the host's own pace, so that what is put off doesn't come back all at once. */
function postpone(name: string, host: Host): Postponed {
  const now = Date.now();
  const isPaceKnown = host.hasAnswered || host.pausedUntil > now;
  if (isPaceKnown)
    host.nextSlot = Math.max(host.nextSlot, now, host.pausedUntil) + host.averageMs / host.queue.concurrency;
  // Of one that hasn't answered yet nothing is known: as long again as it has been silent.
  const waitMs = isPaceKnown ? host.nextSlot - now : Math.min(now - host.firstAskedAt, MAX_SILENCE_MS);
  const seconds = Math.max(waitMs / 1000, 1);
  return { kind: "postponed", host: name, seconds: seconds * (1 + Math.random() / 4) };
}

function learn(host: Host, result: { kind: string }, durationMs: number): void {
  host.averageMs = host.hasAnswered ? host.averageMs * 0.9 + durationMs * 0.1 : durationMs;
  const failure = result.kind === "failure" ? (result as Failure) : undefined;
  if (!failure || !isOriginInTrouble(failure)) {
    host.failures = 0;
    host.hasAnswered = true;
    host.queue.concurrency = HOST_CONCURRENCY;
    return;
  }
  host.failures++;
  host.queue.concurrency = FIRST_CONCURRENCY;
  const asked = failure.retryAfterSeconds;
  const isTold = failure.code === "http_429" || asked !== undefined;
  if (!isTold && host.failures < FAILURES_TO_PAUSE) return;
  const doublings = Math.min(Math.max(host.failures - FAILURES_TO_PAUSE, 0), 10);
  const pause =
    asked === undefined ? Math.min(FIRST_PAUSE_MS * 2 ** doublings, MAX_PAUSE_MS) : Math.max(asked * 1000, 1000);
  host.pausedUntil = Math.max(host.pausedUntil, Date.now() + pause);
  // After the pause one request tries; the first that is answered opens the way again.
  host.queue.concurrency = 1;
}

function forgetIdleHosts(hosts: Map<string, Host>): void {
  const now = Date.now();
  for (const [name, { queue, pausedUntil }] of hosts)
    if (queue.size === 0 && queue.pending === 0 && pausedUntil < now) hosts.delete(name);
}
