import type { Network } from "../../config.ts";
import { HttpError } from "./errors.ts";
import type { Monitor } from "../monitor.ts";
import { mountRoute } from "./route.ts";
import { ANSWER_WITHIN_MS, answerWithin } from "../sql/deadline.ts";

/** `mountRoute` for endpoints of one network, which need a key; 503 where the database takes too long. */
export function createMount({ network, monitor }: { network: Network; monitor: Monitor }): typeof mountRoute {
  return (app, route, { handle }) =>
    mountRoute(app, route, {
      guard: (c) => {
        // A network that isn't configured is 404 to everybody; that one can't be read now is told to callers with a key only.
        const error = catchError(() => monitor.require(network));
        if (error?.status === 404) throw error;
        if (!c.get("state").caller) {
          throw new HttpError(
            401,
            c.req.header("x-api-key") === undefined
              ? "The API key is missing. Expected one in the header x-api-key."
              : "The API key is unknown or revoked. Expected a registered one in the header x-api-key.",
          );
        }
      },
      handle: (input, c) => answerWithin(ANSWER_WITHIN_MS, () => handle(input, c)),
    });
}

/** The same for endpoints that need no key and whose answers are true at this second only. */
export const createLiveMount =
  ({ answerWithinMs = ANSWER_WITHIN_MS }: { answerWithinMs?: number } = {}): typeof mountRoute =>
  (app, route, { handle }) =>
    mountRoute(app, route, {
      isLive: true,
      handle: (input, c) => answerWithin(answerWithinMs, () => handle(input, c)),
    });

function catchError(task: () => unknown): HttpError | undefined {
  try {
    task();
    return undefined;
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}
