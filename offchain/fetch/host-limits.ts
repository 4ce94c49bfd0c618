import { type Failure, isOriginInTrouble, isOurs, type Postponed } from "./failure.ts";
import { createHostLines, type HostLines, type Line } from "./host-lines.ts";
import { createPlaces, findSlow, type Place, putBack } from "./places.ts";

/** How many requests at once a host gets before its first answer. */
const FIRST_CONCURRENCY = 2;
/**
 * How many requests at once a host gets that has answered, and how many may wait for a host that hasn't. More are
 * postponed.
 */
const PER_HOST = { concurrency: 16, unproven: 8 };
/** How long requests may wait for a host that has answered. The first of a tenant may wait longer. */
const MAX_WAIT_MS = 5000;
/** How many may wait for a host before the first of a tenant is postponed, too. */
const MAX_WAITING_FOR_FIRST = 100;
/** How long a tenant's request is taken to take before there was one. */
const UNKNOWN_MS = 200;
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
  /** Requests that wait. */
  lines: HostLines;
  /**
   * Lanes take requests from `lines`, one at a time each. `lanes`: how many the host has; `running`: the places of those
   * that run a request. Others wait for a place.
   */
  lanes: number;
  running: Set<Place>;
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
};

/** Whether a failure counts against the host. `hasAnswered`: whether it has answered before. */
export type IsInTrouble = (failure: Failure, host: { hasAnswered: boolean }) => boolean;

export type HostLimits = {
  /**
   * Runs a request within the limits of its host and of all hosts, and learns from its outcome. May postpone it
   * instead. `tenant`: for whom it is; all tenants have the same share of the places, and of each host.
   */
  run: <T extends { kind: string }>(
    host: string,
    fetch: (place: Place) => Promise<T | Failure>,
    options: { tenant: string; isInTrouble?: IsInTrouble | undefined },
  ) => Promise<T | Failure | Postponed>;
  /** Whether a request of this tenant to this host would be postponed now. */
  isPaused: (host: string, tenant: string) => boolean;
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
      lines: createHostLines(),
      lanes: 0,
      running: new Set(),
      concurrency: FIRST_CONCURRENCY,
      failures: 0,
      troubledAt: 0,
      pausedUntil: 0,
      hasAnswered: false,
      firstAskedAt: performance.now(),
      averageMs: UNKNOWN_MS,
    };
    hosts.set(name, host);
    return host;
  }

  /** Opens as many lanes as the host may have and its requests need. */
  function openLanes(host: Host): void {
    while (host.lanes < host.concurrency && host.lanes - host.running.size < host.lines.size()) {
      host.lanes++;
      places.enter({
        get tenant() {
          return host.lines.next()?.tenant ?? "";
        },
        isShared: !host.hasAnswered || host.averageMs >= SLOW_MS,
        run: (place) => void runLane(host, place),
        onSlow: (place, ms) => noteSlow(host, place, ms),
      });
    }
  }

  async function runLane(host: Host, place: Place): Promise<void> {
    const end = performance.now() + LANE_MS;
    for (let fetches = 0; fetches < LANE_FETCHES && performance.now() < end; fetches++) {
      const next = host.lines.take();
      if (!next) break;
      const { line, request } = next;
      place.tenant = line.tenant;
      host.running.add(place);
      line.busy++;
      await request.run(place);
      line.busy--;
      host.running.delete(place);
      if (host.lanes > host.concurrency) break;
    }
    place.leave();
    host.lanes--;
    openLanes(host);
  }

  /** What is known to be slow by now needn't wait for its turn to be told so, and may leave its lane to another tenant. */
  function noteSlow(host: Host, place: Place, ms: number): void {
    const line = host.lines.of(place.tenant);
    line.averageMs = Math.max(line.averageMs ?? 0, ms);
    host.lines.shorten(line, () => isTooLong(host, line));
    relieve(host);
  }

  /** Sees to it that who is next doesn't wait for slow requests of a tenant with more of them. */
  function relieve(host: Host): void {
    const next = host.lines.next();
    if (!next || host.lanes < host.concurrency) return;
    if (host.running.size < host.lanes) return places.admit();
    const heldBy = (tenant: string) => host.lines.of(tenant).busy;
    const place = findSlow(host.running, { most: host.concurrency, heldBy, least: next.busy });
    if (place) putBack(place);
  }

  async function runFetch<T extends { kind: string }>(
    host: Host,
    fetch: (place: Place) => Promise<T | Failure>,
    { line, place, isInTrouble }: { line: Line; place: Place; isInTrouble: IsInTrouble },
  ): Promise<T | Failure | Postponed> {
    // The host may have failed while this request waited.
    if (host.pausedUntil > performance.now()) return postpone(host, line);
    const startedAt = performance.now();
    const result = await fetch(place);
    place.putBack = undefined;
    learn(host, result, { line, startedAt, isInTrouble });
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
      const line = host.lines.of(tenant);
      if (mustWait(host, line)) return Promise.resolve(postpone(host, line));
      // A name server can invent a host for each token, and those that wait for them would keep others from being
      // claimed.
      if (!host.hasAnswered && host.lanes === 0 && places.isCrowded(tenant))
        return Promise.resolve({ kind: "postponed", host: name, seconds: (CROWD_MS / 1000) * (1 + Math.random()) });
      return new Promise<T | Failure | Postponed>((resolve, reject) => {
        host.lines.add(line, {
          run: (place) => runFetch(host, fetch, { line, place, isInTrouble }).then(resolve, reject),
          postpone: () => resolve(postpone(host, line)),
        });
        openLanes(host);
        if (line.waiting.length === 1) relieve(host);
      });
    },

    isPaused: (name, tenant) => {
      const host = hostFor(name);
      return mustWait(host, host.lines.of(tenant));
    },

    isFull: places.isFull,
  };
}

function mustWait(host: Host, line: Line): boolean {
  const { lanes, pausedUntil, failures } = host;
  if (pausedUntil > performance.now() || (failures >= FAILURES_TO_PAUSE && lanes > 0)) return true;
  return isTooLong(host, line, { more: 1 });
}

/** Whether too many of a tenant's requests wait, with `more` that would. */
function isTooLong({ lines, concurrency, hasAnswered, most }: Host, line: Line, { more = 0 } = {}): boolean {
  const before = line.waiting.length + more - 1;
  if (before <= 0) return lines.size() >= MAX_WAITING_FOR_FIRST;
  if (!hasAnswered) return lines.size() + more > most.unproven;
  return (before * (line.averageMs ?? UNKNOWN_MS) * lines.tenants()) / concurrency > MAX_WAIT_MS;
}

/** Postpones a tenant's requests one after another at their own pace, so that they don't come back all at once. */
function postpone(host: Host, line: Line): Postponed {
  const now = performance.now();
  const isPaceKnown = host.hasAnswered || host.pausedUntil > now;
  // After a pause one request tries the host, but the others come when it is open again: at the full pace.
  const concurrency = host.hasAnswered ? host.most.concurrency : host.concurrency;
  if (isPaceKnown)
    line.nextSlot = Math.max(line.nextSlot, now, host.pausedUntil) + (line.averageMs ?? UNKNOWN_MS) / concurrency;
  // Of a host that hasn't answered yet the pace is unknown: as long again as it has been silent.
  const waitMs = isPaceKnown ? line.nextSlot - now : Math.min(now - host.firstAskedAt, MAX_SILENCE_MS);
  const seconds = Math.max(waitMs / 1000, 1);
  return { kind: "postponed", host: host.name, seconds: seconds * (1 + Math.random() / 4) };
}

function learn(
  host: Host,
  result: { kind: string },
  { line, startedAt, isInTrouble }: { line: Line; startedAt: number; isInTrouble: IsInTrouble },
): void {
  if (result.kind === "postponed") return;
  const failure = result.kind === "failure" ? (result as Failure) : undefined;
  if (failure && isOurs(failure)) return;
  const now = performance.now();
  const ms = now - startedAt;
  host.averageMs = host.hasAnswered ? host.averageMs * 0.9 + ms * 0.1 : ms;
  line.averageMs = line.averageMs === undefined ? ms : line.averageMs * 0.9 + ms * 0.1;
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
  const idle = [...hosts.values()].filter(({ lines, lanes }) => lines.size() === 0 && lanes === 0);
  for (const { name, pausedUntil } of idle) if (pausedUntil < now) hosts.delete(name);
  for (const { name } of idle) if (hosts.size > MAX_HOSTS / 2) hosts.delete(name);
}
