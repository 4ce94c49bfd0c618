import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { clientNetwork } from "../http/client-address.ts";
import { HttpError } from "../http/errors.ts";
import { within } from "../sql/deadline.ts";
import type { RateStore } from "./rate-store.ts";
import { STORE_WITHIN_MS } from "./shared-window.ts";

/** A budget of client addresses for something that is more expensive than a request. */
type ClientBudget = {
  /** @throws HttpError 429 where nothing is left */
  take: (clientAddress: string) => Promise<void>;
};

/**
 * A budget of `most` in `seconds`, over all processes that share the store. `what` and `each` are words of the message:
 * "keys", "an hour".
 */
export function createClientBudget({
  store,
  name,
  most,
  seconds,
  what,
  each,
}: {
  store: RateStore;
  name: string;
  most: number;
  seconds: number;
  what: string;
  each: string;
}): ClientBudget {
  const window = { keyPrefix: name, points: most, duration: seconds };
  const alone = new RateLimiterMemory(window);
  const shared = store({ ...window, insuranceLimiter: alone });
  /** Takes from the shared budget. If the store fails or is slow, this process counts for itself. */
  const consume = (id: string) =>
    within(STORE_WITHIN_MS, shared.consume(id)).catch((error: unknown) => {
      if (error instanceof RateLimiterRes) throw error;
      return alone.consume(id);
    });
  return {
    take: async (clientAddress) => {
      await consume(clientNetwork(clientAddress)).catch((error: unknown) => {
        if (!(error instanceof RateLimiterRes)) throw error;
        const wait = Math.ceil(error.msBeforeNext / 1000);
        throw new HttpError(
          429,
          `Too many ${what} for this address. Expected at most ${most} ${each}; the next in ${wait} seconds.`,
          { "retry-after": String(wait) },
        );
      });
    },
  };
}
