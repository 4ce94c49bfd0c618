import { type Failure, isOurs, type Postponed } from "./failure.ts";
import { createHostLines, type HostLines, type Line } from "./host-lines.ts";
import type { Place } from "./places.ts";

/** How many requests at once a host gets before its first answer. */
const FIRST_CONCURRENCY = 2;
/**
 * How many requests at once a host gets that has answered, and how many may wait for a host that hasn't. More are
 * postponed.
 */
export const PER_HOST = { concurrency: 16, unproven: 8 };
/** How long requests may wait for a host that has answered. The first of a tenant may wait longer. */
const MAX_WAIT_MS = 5000;
/** How many may wait for a host before the first of a tenant is postponed, too. */
const MAX_WAITING_FOR_FIRST = 100;
/** How long a tenant's request is taken to take before there was one. */
const UNKNOWN_MS = 200;
const MAX_SILENCE_MS = 30_000;
/** After so many failures in a row a host is paused. The length of its pause: at first, and at most. */
const FAILURES_TO_PAUSE = 3;
const FIRST_PAUSE_MS = 30_000;
/**
 * The first pause where it tells us to ask less and doesn't say for how long. It is short, because only a refusal now
 * and then tells the pace that it allows: with half a minute for each refusal it was asked for a sixth of what it gives.
 */
const FIRST_TOLD_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 15 * 60_000;
/** How long a host that fails is hoped for after its last answer: an outage of less puts its content off, no more. */
const HOPE_MS = 3_600_000;
/**
 * A host may refuse this part of its last requests, about `COUNTED` of them: some refuse one of fifty at any pace, as
 * those do that are many behind one name. Beyond that there is a gap between requests. It doubles, from the first to the
 * largest, each time that the host has answered and tells us again to ask less. Each answer shortens it a little, until
 * it is so short that it is dropped.
 */
const MAX_REFUSED_PART = 0.1;
const COUNTED = 50;
const FIRST_GAP_MS = 100;
const MAX_GAP_MS = 5000;
const MIN_GAP_MS = 10;
const SHORTER = 0.997;

/** What is known of a host, and the requests that it has. */
export type Host = {
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
  /** Whether there was an answer since the host last told us to ask less. Undefined before it did. */
  hasAnsweredSince: boolean | undefined;
  /** The part of its last requests for which it told us so, and how many these are. */
  refusedPart: number;
  counted: number;
  /** The least time between two requests. 0 where there needn't be any. */
  gapMs: number;
  /** When the next request may start, and the timer that waits for it. */
  nextAt: number;
  timer: NodeJS.Timeout | undefined;
  failures: number;
  /** When the last of these failures ended. */
  troubledAt: number;
  pausedUntil: number;
  hasAnswered: boolean;
  /** When it last did. */
  answeredAt: number;
  firstAskedAt: number;
  /** The moving average of how long a request takes. */
  averageMs: number;
};

/** Whether a failure counts against the host. `hasAnswered`: whether it has answered before. */
export type IsInTrouble = (failure: Failure, host: { hasAnswered: boolean }) => boolean;

/** A host that wasn't asked before. `most`: its limits. */
export const createHost = (name: string, most: typeof PER_HOST): Host => ({
  name,
  most,
  lines: createHostLines(),
  lanes: 0,
  running: new Set(),
  concurrency: FIRST_CONCURRENCY,
  hasAnsweredSince: undefined,
  refusedPart: 0,
  counted: 0,
  gapMs: 0,
  nextAt: 0,
  timer: undefined,
  failures: 0,
  troubledAt: 0,
  pausedUntil: 0,
  hasAnswered: false,
  answeredAt: -Infinity,
  firstAskedAt: performance.now(),
  averageMs: UNKNOWN_MS,
});

/** Whether a request of this tenant has to come later. */
export function mustWait(host: Host, line: Line): boolean {
  const { lanes, pausedUntil, failures } = host;
  if (pausedUntil > performance.now() || (failures >= FAILURES_TO_PAUSE && lanes > 0)) return true;
  return isTooLong(host, line, { more: 1 });
}

/** Whether a host that has to be asked later is likely to answer then, and soon. */
export function isPromising({ pausedUntil, failures, answeredAt }: Host): boolean {
  const now = performance.now();
  if (pausedUntil > now + MAX_PAUSE_MS) return false;
  return failures < FAILURES_TO_PAUSE || answeredAt > now - HOPE_MS;
}

/** Whether too many of a tenant's requests wait, with `more` that would. */
export function isTooLong(host: Host, line: Line, { more = 0 } = {}): boolean {
  const { lines, hasAnswered, most } = host;
  const before = line.waiting.length + more - 1;
  if (before <= 0) return lines.size() >= MAX_WAITING_FOR_FIRST;
  if (!hasAnswered) return lines.size() + more > most.unproven;
  return before * paceMs(host, line) * lines.tenants() > MAX_WAIT_MS;
}

/** The time between two of a tenant's requests where no other one has any. */
function paceMs({ concurrency, gapMs }: Pick<Host, "concurrency" | "gapMs">, { averageMs = UNKNOWN_MS }: Line): number {
  return Math.max(averageMs / concurrency, gapMs);
}

/** Postpones a tenant's requests one after another at their own pace, so that they don't come back all at once. */
export function postpone(host: Host, line: Line): Postponed {
  const now = performance.now();
  const isPaceKnown = host.hasAnswered || host.pausedUntil > now;
  // After a pause one request tries the host, but the others come when it is open again: at the full pace.
  const concurrency = host.hasAnswered ? host.most.concurrency : host.concurrency;
  // Where requests need a distance, those of other tenants that wait come before: else all would be back for each of them.
  const turnAt = now + host.gapMs * host.lines.tenants();
  if (isPaceKnown)
    line.nextSlot = Math.max(line.nextSlot, turnAt, host.pausedUntil) + paceMs({ ...host, concurrency }, line);
  // Of a host that hasn't answered yet the pace is unknown: as long again as it has been silent.
  const waitMs = isPaceKnown ? line.nextSlot - now : Math.min(now - host.firstAskedAt, MAX_SILENCE_MS);
  const seconds = Math.max(waitMs / 1000, 1);
  return { kind: "postponed", host: host.name, seconds: seconds * (1 + Math.random() / 4) };
}

const average = (before: number, ms: number) => before * 0.9 + ms * 0.1;

/** Counts a request that a host has refused (1) or not (0), in order to ask it less. */
function countRefusal(host: Host, refused: 0 | 1): void {
  host.counted = Math.min(host.counted + 1, COUNTED);
  host.refusedPart += (refused - host.refusedPart) / host.counted;
}

/** Learns from how a request ended. */
export function learn(
  host: Host,
  result: { kind: string },
  { line, startedAt, isInTrouble }: { line: Line; startedAt: number; isInTrouble: IsInTrouble },
): void {
  if (result.kind === "postponed") return;
  const failure = result.kind === "failure" ? (result as Failure) : undefined;
  if (failure && isOurs(failure)) return;
  const now = performance.now();
  const ms = now - startedAt;
  host.averageMs = average(host.hasAnswered ? host.averageMs : ms, ms);
  line.averageMs = average(line.averageMs ?? ms, ms);
  if (!failure || !isInTrouble(failure, host)) {
    host.failures = 0;
    host.hasAnswered = true;
    host.answeredAt = now;
    host.concurrency = host.most.concurrency;
    if (host.hasAnsweredSince === false) host.hasAnsweredSince = true;
    countRefusal(host, 0);
    host.gapMs = host.gapMs < MIN_GAP_MS ? 0 : host.gapMs * SHORTER;
    return;
  }
  // Requests that were running when another one failed have the same cause: 16 of them must not count as 14 pauses.
  const isNews = startedAt >= host.troubledAt;
  if (isNews || host.failures < FAILURES_TO_PAUSE) host.failures++;
  host.troubledAt = now;
  host.concurrency = FIRST_CONCURRENCY;
  const asked = failure.retryAfterSeconds;
  const isTold = failure.code === "http_429" || asked !== undefined;
  if (isTold) countRefusal(host, 1);
  if (isTold && isNews) {
    // At full pace most requests after each pause would be refused, too: their tokens would wait for days in the end.
    // Where nothing was answered in between, less was no help.
    const isTooFast = host.hasAnsweredSince && host.refusedPart > MAX_REFUSED_PART;
    if (isTooFast) host.gapMs = Math.min(Math.max(host.gapMs * 2, FIRST_GAP_MS), MAX_GAP_MS);
    host.hasAnsweredSince = false;
  }
  if (!isTold && host.failures < FAILURES_TO_PAUSE) return;
  const doublings = Math.min(Math.max(host.failures - FAILURES_TO_PAUSE, 0), 10);
  const first = isTold ? FIRST_TOLD_PAUSE_MS : FIRST_PAUSE_MS;
  const pause = asked === undefined ? Math.min(first * 2 ** doublings, MAX_PAUSE_MS) : Math.max(asked * 1000, 1000);
  host.pausedUntil = Math.max(host.pausedUntil, now + pause);
  // After the pause one request tries. The first that is answered lifts the limit again.
  host.concurrency = 1;
}
