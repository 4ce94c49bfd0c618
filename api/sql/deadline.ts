import { unavailable } from "../http/errors.ts";

/** A request waits no longer for the database, in milliseconds: a little more than a statement may take there. */
export const ANSWER_WITHIN_MS = 6000;

/** What readers of the database wait for: `task`, again where it met a takeover, or 503 when it takes longer. */
export const answerWithin = <T>(ms: number, task: () => Promise<T> | T): Promise<T> =>
  within(ms, throughTakeover(task));

/** `promise`, or a rejection that says 503 when it takes longer. */
export const within = <T>(ms: number, promise: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(unavailable("The database does not answer.")), ms);
    const settle =
      <V>(end: (value: V) => void) =>
      (value: V) => {
        clearTimeout(timer);
        end(value);
      };
    promise.then(settle(resolve), settle(reject));
  });

/**
 * What a reader can meet at the moment at which another deployment's views take over: a view that went away while the
 * statement was planned, or a lock that the other side waited for. On a replica the statement is cancelled so that what
 * the primary did can be done there, too. The same statement works right after.
 */
const TAKEOVER = new Set(["42P01", "XX000", "40P01", "0A000", "40001"]);
const TAKEOVER_ATTEMPTS = 3;
const TAKEOVER_PAUSE_MS = 30;

/** `task`, again where it met a takeover. */
async function throughTakeover<T>(task: () => Promise<T> | T): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await task();
    } catch (error) {
      const isTakeover = error instanceof Error && "code" in error && TAKEOVER.has(String(error.code));
      if (!isTakeover || attempt === TAKEOVER_ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, TAKEOVER_PAUSE_MS));
    }
  }
}
