/** The first pause after a failure, in seconds. */
const FIRST_PAUSE_SECONDS = 15;
/** The longest pause. Nothing is given up: origins come back after months. */
export const MAX_PAUSE_SECONDS = 7 * 86_400;

/**
 * Seconds until the next attempt after `attempts` failures in a row: doubling, capped at a week, between half and all of
 * it by chance, so that what failed together doesn't come back together.
 */
export function retryDelaySeconds(attempts: number): number {
  const pause = Math.min(FIRST_PAUSE_SECONDS * 2 ** Math.min(attempts - 1, 40), MAX_PAUSE_SECONDS);
  return pause * (0.5 + Math.random() / 2);
}
