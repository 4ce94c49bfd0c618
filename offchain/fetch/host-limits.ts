import { createTally } from "../../net/tally.ts";
import { type Failure, isOriginInTrouble, type Postponed } from "./failure.ts";
import { openLanes, relieve } from "./host-lanes.ts";
import type { Line } from "./host-lines.ts";
import {
  createHost,
  type Host,
  type IsInTrouble,
  isPromising,
  learn,
  mustWait,
  PER_HOST,
  postpone,
} from "./host-record.ts";
import { createPlaces, type Place } from "./places.ts";

/** For how long what would only wait is postponed, or up to twice that: too many wait before it. */
const CROWD_MS = 30_000;
/** How many hosts are remembered. */
const MAX_HOSTS = 20_000;

/** The limits of all hosts in one process. */
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
  /** Whether a host that has to be asked later is likely to answer then, and soon. */
  isPromising: (host: string) => boolean;
  /** Whether twice as many lanes wait as there are places. More needn't be added: there will be time for that. */
  isFull: () => boolean;
  /** How many requests wait for slow ones of their own tenant. More can be added: those of others needn't wait. */
  countHeldUp: () => number;
};

/** Limits how many requests run at once, in all and for each host, and pauses hosts that fail. */
export function createHostLimits({
  concurrency,
  perHost = PER_HOST,
}: {
  concurrency: number;
  perHost?: typeof PER_HOST;
}): HostLimits {
  const places = createPlaces({ concurrency });
  const hosts = new Map<string, Host>();
  /** How many requests of each tenant wait. */
  const { of: waitingOf, change: changeWaiting } = createTally();

  /**
   * Whether a request would only wait where nobody should. A name server can invent a host for each token, and requests
   * of a tenant whose hosts fall silent wait for each other: they would keep others from being claimed.
   */
  function isCrowded(host: Host, tenant: string): boolean {
    if (!host.hasAnswered && host.lanes === 0 && places.isCrowded(tenant)) return true;
    return waitingOf(tenant) >= concurrency && places.heldUp().has(tenant);
  }

  function hostFor(name: string): Host {
    const known = hosts.get(name);
    if (known) return known;
    if (hosts.size >= MAX_HOSTS) forgetIdleHosts(hosts);
    const host = createHost(name, perHost);
    hosts.set(name, host);
    return host;
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
    openLanes(places, host);
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
      if (isCrowded(host, tenant))
        return Promise.resolve({ kind: "postponed", host: name, seconds: (CROWD_MS / 1000) * (1 + Math.random()) });
      return new Promise<T | Failure | Postponed>((resolve, reject) => {
        const before = host.lines.next();
        changeWaiting(tenant, 1);
        host.lines.add(line, {
          run: (place) => {
            changeWaiting(tenant, -1);
            return runFetch(host, fetch, { line, place, isInTrouble }).then(resolve, reject);
          },
          postpone: () => {
            changeWaiting(tenant, -1);
            resolve(postpone(host, line));
          },
        });
        openLanes(places, host);
        if (host.lines.next() !== before) relieve(places, host);
      });
    },

    isPaused: (name, tenant) => {
      const host = hostFor(name);
      return mustWait(host, host.lines.of(tenant));
    },

    isPromising: (name) => isPromising(hostFor(name)),

    isFull: places.isFull,
    countHeldUp: () => [...places.heldUp()].reduce((sum, tenant) => sum + waitingOf(tenant), 0),
  };
}

/** Forgets hosts that aren't paused. If still too many are left, invented by a name server perhaps, also the oldest. */
function forgetIdleHosts(hosts: Map<string, Host>): void {
  const now = performance.now();
  const idle = [...hosts.values()].filter(({ lines, lanes }) => lines.size() === 0 && lanes === 0);
  for (const { name, pausedUntil } of idle) if (pausedUntil < now) hosts.delete(name);
  for (const { name } of idle) if (hosts.size > MAX_HOSTS / 2) hosts.delete(name);
}
