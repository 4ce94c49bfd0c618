import type { Context } from "hono";
import type { Network } from "../../config.ts";
import { HttpError } from "./errors.ts";
import type { Monitor } from "../monitor.ts";
import type { Env } from "./request-state.ts";
import { mountRoute } from "./route.ts";
import { createSharing, type LoadAnswer } from "./shared-answer.ts";
import { ANSWER_WITHIN_MS, answerWithin } from "../sql/deadline.ts";

/** `late`: what is told of an answer that takes longer, where more than the database may be to blame. */
type Patience = { answerWithinMs?: number; late?: string };

/**
 * Creates `mountRoute` for endpoints of one network that need a key. Answers 503 where the database takes too long.
 * Equal requests that come at once share an answer.
 */
export function createMount({ network, monitor }: { network: Network; monitor: Monitor }): typeof mountRoute {
  const answer = createAnswering();
  return (app, route, { handle }) =>
    mountRoute(app, route, {
      guard: (c) => {
        // Everybody gets 404 for a network that isn't configured. Only callers with a key learn that one can't be read
        // now.
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
      handle: (input, c) => answer(route, c, () => handle(input, c)),
    });
}

/** Creates `mountRoute` for endpoints that need no key, and whose answers are valid only at this moment. */
export function createLiveMount(patience: Patience = {}): typeof mountRoute {
  const answer = createAnswering(patience);
  return (app, route, { handle }) =>
    mountRoute(app, route, { isLive: true, handle: (input, c) => answer(route, c, () => handle(input, c)) });
}

function createAnswering({ answerWithinMs = ANSWER_WITHIN_MS, late }: Patience = {}) {
  const share = createSharing();
  return ({ method }: { method: string }, { req }: Context<Env>, load: LoadAnswer) =>
    answerWithin(answerWithinMs, () => (method === "get" ? share(pathOf(req.url), load) : load()), { late });
}

/** The path of a URL with its query. */
const pathOf = (url: string) => url.slice(url.indexOf("/", "https://".length));

function catchError(task: () => unknown): HttpError | undefined {
  try {
    task();
    return undefined;
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}
