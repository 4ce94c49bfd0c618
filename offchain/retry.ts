import { type Failure, STORE } from "./fetch/failure.ts";

/** The first pause of a contract, in seconds. */
const FIRST_PAUSE_SECONDS = 15;
/** The longest pause, in seconds. An origin is never given up, because some come back after months. */
const MAX_PAUSE_SECONDS = 7 * 86_400;
/** The pause after an update that has changed nothing yet: longer than a node lags behind. */
export const SECOND_LOOK_SECONDS = 60;
/** Pauses of documents and media: they often follow late after a mint. A minute, ten, an hour, a day; then doubling. */
const PAUSES_SECONDS = [60, 600, 3600, 86_400];
/** How often a revert, or a preliminary document, is tried again before the token is given up: once after each pause. */
const MAX_RETRIES = PAUSES_SECONDS.length;
/** Failures that only the chain can change. It logs that it has, and such a log makes the token due again. */
const CHAIN_CODES = new Set(["revert"]);

/** The pause in seconds until a document is tried again. Null: it is done or given up, until something asks for it. */
export function documentPauseSeconds({
  attempts,
  failure,
  isPreliminary,
}: {
  attempts: number;
  failure: Omit<Failure, "kind"> | undefined;
  /**
   * Another document may follow: it has no content, as before a reveal, it is a page, which servers also have for what
   * isn't there yet, or it was read without the token's standard.
   */
  isPreliminary: boolean;
}): number | null {
  if (!failure && !isPreliminary) return null;
  const isOfOrigin = failure !== undefined && !CHAIN_CODES.has(failure.code);
  if (!isOfOrigin && attempts > MAX_RETRIES) return null;
  return Math.max(pauseSeconds(attempts), failure?.retryAfterSeconds ?? 0);
}

/** The pause in seconds until media is tried again. */
export function mediaPauseSeconds({ attempts, failure }: { attempts: number; failure: Failure }): number {
  // Ten minutes, however often: our own disk or store may have room soon, and each time an origin is asked in vain.
  if (failure.code === STORE) return pauseSeconds(2);
  return Math.max(pauseSeconds(attempts), failure.retryAfterSeconds ?? 0);
}

/**
 * The pause in seconds until a contract is asked again for its name and standard. It doubles, and is shortened at random
 * by up to half, so that what failed together doesn't come back together.
 */
export function contractPauseSeconds(attempts: number): number {
  const pause = Math.min(FIRST_PAUSE_SECONDS * 2 ** (attempts - 1), MAX_PAUSE_SECONDS);
  return pause * (0.5 + Math.random() / 2);
}

/** Pauses are shortened at random by up to a tenth, so that what failed together doesn't come back together. */
function pauseSeconds(attempts: number): number {
  const listed = PAUSES_SECONDS[Math.max(attempts - 1, 0)];
  const doublings = Math.min(attempts - PAUSES_SECONDS.length, 10);
  const pause = listed ?? Math.min(PAUSES_SECONDS.at(-1)! * 2 ** doublings, MAX_PAUSE_SECONDS);
  return pause * (1 - Math.random() / 10);
}
