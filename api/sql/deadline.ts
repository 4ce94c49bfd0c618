import { setTimeout as sleep } from "node:timers/promises";
import { unavailable } from "../http/errors.ts";

/** The longest that a request waits for the database, in milliseconds: a little more than a statement's timeout. */
export const ANSWER_WITHIN_MS = 6000;

/** What is told where something takes too long. */
type Late = { late?: string | undefined };

/** Runs `task`, again if another deployment took over meanwhile. Rejects with 503 where it takes longer than `ms`. */
export const answerWithin = <T>(ms: number, task: () => Promise<T> | T, options: Late = {}): Promise<T> =>
  within(ms, throughTakeover(task), options);

/** The result of `promise`, or a rejection with 503 where it takes longer than `ms`. */
export const within = <T>(
  ms: number,
  promise: Promise<T>,
  { late = "The database does not answer." }: Late = {},
): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(unavailable(late)), ms);
    const settle =
      <V>(end: (value: V) => void) =>
      (value: V) => {
        clearTimeout(timer);
        end(value);
      };
    promise.then(settle(resolve), settle(reject));
  });

/**
 * SQLSTATEs that a reader may get at the moment when another deployment's views replace the current ones: a view is
 * gone since the statement was planned, or a deadlock over a lock. On a replica the statement may be cancelled to let
 * it do what the primary did. The same statement works right after.
 */
const TAKEOVER = new Set(["42P01", "XX000", "40P01", "0A000", "40001"]);
const TAKEOVER_ATTEMPTS = 3;
const TAKEOVER_PAUSE_MS = 30;

/** Runs `task`, again if it failed because of a takeover. */
async function throughTakeover<T>(task: () => Promise<T> | T): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await task();
    } catch (error) {
      const isTakeover = error instanceof Error && "code" in error && TAKEOVER.has(String(error.code));
      if (!isTakeover || attempt === TAKEOVER_ATTEMPTS) throw error;
      await sleep(TAKEOVER_PAUSE_MS);
    }
  }
}
