import type { Failure } from "./fetch/failure.ts";

/** The first pause after a failure, in seconds. */
const FIRST_PAUSE_SECONDS = 15;
/** The longest pause. Nothing is given up: origins come back after months. */
const MAX_PAUSE_SECONDS = 7 * 86_400;
/** After an update that has changed nothing yet: longer than a node lags. */
export const SECOND_LOOK_SECONDS = 60;
/** After a mint documents often follow late: a minute, ten, an hour, a day; then doubling. */
const PAUSES_SECONDS = [60, 600, 3600, 86_400];
/** What only the chain can change. It says so by an event, so that asking on and on would be for nothing. */
const CHAIN_CODES = new Set(["revert"]);

/**
 * Seconds until the next attempt after `attempts` failures in a row: doubling, capped at a week, between half and all of
 * it by chance, so that what failed together doesn't come back together.
 */
export function retryDelaySeconds(attempts: number): number {
  const pause = Math.min(FIRST_PAUSE_SECONDS * 2 ** Math.min(Math.max(attempts - 1, 0), 40), MAX_PAUSE_SECONDS);
  return pause * (0.5 + Math.random() / 2);
}

/** Seconds until the document of a token or contract is tried again; null: not before something asks for it. */
export function documentPauseSeconds({
  attempts,
  failure,
  isBlank,
}: {
  attempts: number;
  failure: Omit<Failure, "kind"> | undefined;
  /** A document with nothing in it: what a mint has before it is revealed. */
  isBlank: boolean;
}): number | null {
  if (!failure && !isBlank) return null;
  const isPatient = failure !== undefined && !CHAIN_CODES.has(failure.code);
  if (!isPatient && attempts > PAUSES_SECONDS.length) return null;
  return Math.max(pauseSeconds(attempts), failure?.retryAfterSeconds ?? 0);
}

/** The same patience for media. */
export function mediaPauseSeconds({ attempts, failure }: { attempts: number; failure: Failure }): number {
  return Math.max(pauseSeconds(attempts), failure.retryAfterSeconds ?? 0);
}

/** Up to a tenth less by chance, so that what failed together doesn't come back together. */
function pauseSeconds(attempts: number): number {
  const last = PAUSES_SECONDS.length;
  const listed = PAUSES_SECONDS[Math.max(attempts - 1, 0)];
  const pause = listed ?? Math.min(86_400 * 2 ** Math.min(attempts - last, 10), MAX_PAUSE_SECONDS);
  return pause * (1 - Math.random() / 10);
}
