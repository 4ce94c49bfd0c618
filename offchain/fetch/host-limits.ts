import { type Failure, isOriginInTrouble, isOurs, type Postponed } from "./failure.ts";
import { createPlaces, type Place } from "./places.ts";

/** How many requests at once a host gets before its first answer. */
const FIRST_CONCURRENCY = 2;
/**
 * How many requests at once a host gets that has answered, and how many may wait for a host that hasn't. More are
 * postponed.
 */
const PER_HOST = { concurrency: 16, unproven: 8 };
/** How long requests may wait for a host that has answered. */
const MAX_WAIT_MS = 5000;
const MAX_SILENCE_MS = 30_000;
/** Slower hosts, and hosts that haven't answered yet, share a part of all places. */
const SLOW_MS = 2000;
/** For how long a host without an answer is postponed, or up to twice that, where too many wait for shared places. */
const CROWD_MS = 30_000;
/** After so many failures in a row a host is paused. The length of its pause: at first, and at most. */
const FAILURES_TO_PAUSE = 3;
const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 15 * 60_000;
/** How many hosts are remembered. */
const MAX_HOSTS = 20_000;

/** A lane gives its place to the next lane after so many requests or so long. */
const LANE_FETCHES = 8;
const LANE_MS = 200;

type Host = {
  name: string;
  most: typeof PER_HOST;
  /** Requests that wait, in order. */
  waiting: { tenant: string; run: (place: Place) => Promise<void> }[];
  /**
   * Lanes take requests from `waiting`, one at a time each. `lanes`: all of the host; `busy`: those that run a request.
   * Others wait for a place.
   */
  lanes: number;
  busy: number;
  /** How many lanes the host may have. */
  concurrency: number;
  failures: number;
  /** When the last of these failures ended. */
  troubledAt: number;
  pausedUntil: number;
  hasAnswered: boolean;
  firstAskedAt: number;
  /** The moving average of how long a request takes. */
  averageMs: number;
  /** When the next postponed request may come. */
  nextSlot: number;
};

/** Whether a failure counts against the host. `hasAnswered`: whether it has answered before. */
export type IsInTrouble = (failure: Failure, host: { hasAnswered: boolean }) => boolean;

export type HostLimits = {
  /**
   * Runs a request within the limits of its host and of all hosts, and learns from its outcome. May postpone it
   * instead. `tenant`: for whom it is; all tenants have the same share of the places.
   */
  run: <T extends { kind: string }>(
    host: string,
    fetch: (place: Place) => Promise<T | Failure>,
    options: { tenant: string; isInTrouble?: IsInTrouble | undefined },
  ) => Promise<T | Failure | Postponed>;
  /** Whether a request to this host would be postponed now. */
  isPaused: (host: string) => boolean;
  /** Whether twice as many lanes wait as there are places. More needn't be added: there will be time for that. */
  isFull: () => boolean;
};

/**
 * Limits how many requests run at once, in all and for each host, and pauses hosts that fail. Lanes and not requests
 * wait for places, because waiting for a place costs as much as reading a small document.
 */
export function createHostLimits({
  concurrency,
  perHost = PER_HOST,
}: {
  concurrency: number;
  perHost?: typeof PER_HOST;
}): HostLimits {
  const places = createPlaces({ concurrency });
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

  /** Opens as many lanes as the host may have and its requests need. */
  function openLanes(host: Host): void {
    while (host.lanes < host.concurrency && host.lanes - host.busy < host.waiting.length) {
      const { tenant } = host.waiting[host.lanes - host.busy]!;
      const isShared = !host.hasAnswered || host.averageMs >= SLOW_MS;
      host.lanes++;
      places.enter({ tenant, isShared, run: (place) => void runLane(host, place) });
    }
  }

  async function runLane(host: Host, place: Place): Promise<void> {
    const end = performance.now() + LANE_MS;
    for (let fetches = 0; fetches < LANE_FETCHES && performance.now() < end; fetches++) {
      const next = host.waiting.shift();
      if (!next) break;
      host.busy++;
      place.tenant = next.tenant;
      await next.run(place);
      host.busy--;
      if (host.lanes > host.concurrency) break;
    }
    place.leave();
    host.lanes--;
    openLanes(host);
  }

  async function runFetch<T extends { kind: string }>(
    host: Host,
    fetch: (place: Place) => Promise<T | Failure>,
    { place, isInTrouble }: { place: Place; isInTrouble: IsInTrouble },
  ): Promise<T | Failure | Postponed> {
    // The host may have failed while this request waited.
    if (host.pausedUntil > performance.now()) return postpone(host);
    const startedAt = performance.now();
    const result = await fetch(place);
    place.putBack = undefined;
    learn(host, result, { startedAt, isInTrouble });
    openLanes(host);
    return result;
  }

  return {
    run<T extends { kind: string }>(
      name: string,
      fetch: (place: Place) => Promise<T | Failure>,
      { tenant, isInTrouble = isOriginInTrouble }: { tenant: string; isInTrouble?: IsInTrouble | undefined },
    ) {
      const host = hostFor(name);
      if (mustWait(host)) return Promise.resolve(postpone(host));
      // A name server can invent a host for each token, and those that wait for them would keep others from being
      // claimed.
      if (!host.hasAnswered && host.lanes === 0 && places.isCrowded(tenant))
        return Promise.resolve({ kind: "postponed", host: name, seconds: (CROWD_MS / 1000) * (1 + Math.random()) });
      return new Promise<T | Failure | Postponed>((resolve, reject) => {
        const run = (place: Place) => runFetch(host, fetch, { place, isInTrouble }).then(resolve, reject);
        host.waiting.push({ tenant, run });
        openLanes(host);
      });
    },

    isPaused: (name) => mustWait(hostFor(name)),

    isFull: places.isFull,
  };
}

function mustWait(host: Host): boolean {
  const { waiting, lanes, concurrency, pausedUntil, failures, hasAnswered, averageMs } = host;
  if (pausedUntil > performance.now() || (failures >= FAILURES_TO_PAUSE && lanes > 0)) return true;
  if (!hasAnswered) return waiting.length >= host.most.unproven;
  return (waiting.length * averageMs) / concurrency > MAX_WAIT_MS;
}

/** Postpones requests one after another at the host's own pace, so that they don't come back all at once. */
function postpone(host: Host): Postponed {
  const now = performance.now();
  const isPaceKnown = host.hasAnswered || host.pausedUntil > now;
  // After a pause one request tries the host, but the others come when it is open again: at the full pace.
  const concurrency = host.hasAnswered ? host.most.concurrency : host.concurrency;
  if (isPaceKnown) host.nextSlot = Math.max(host.nextSlot, now, host.pausedUntil) + host.averageMs / concurrency;
  // Of a host that hasn't answered yet the pace is unknown: as long again as it has been silent.
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
  // Requests that were running when another one failed have the same cause: 16 of them must not count as 14 pauses.
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
  // After the pause one request tries. The first that is answered lifts the limit again.
  host.concurrency = 1;
}

/** Forgets hosts that aren't paused. If still too many are left, invented by a name server perhaps, also the oldest. */
function forgetIdleHosts(hosts: Map<string, Host>): void {
  const now = performance.now();
  const idle = [...hosts.values()].filter(({ waiting, lanes }) => waiting.length === 0 && lanes === 0);
  for (const { name, pausedUntil } of idle) if (pausedUntil < now) hosts.delete(name);
  for (const { name } of idle) if (hosts.size > MAX_HOSTS / 2) hosts.delete(name);
}
