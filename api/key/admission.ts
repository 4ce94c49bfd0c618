import type { MiddlewareHandler } from "hono";
import { clientNetwork } from "../http/client-address.ts";
import { HttpError } from "../http/errors.ts";
import type { Env, RequestState } from "../http/request-state.ts";
import type { KeyCheck } from "./key-check.ts";
import { type Budget, type RateLimit, rateHeaders } from "./rate-limit.ts";
import { within } from "../sql/deadline.ts";

/** A key that this process doesn't know is looked up. If the database hangs, the answer is 503 after this time. */
const KEY_CHECK_WITHIN_MS = 3000;
/** Enough for 250 padded ids in `tokens_ids`, which take 20 kB. */
const MAX_URL_LENGTH = 32_768;
/** Paths without a rate limit: monitoring must not be refused because somebody else at its address asks too much. */
const UNLIMITED = new Set(["/health", "/ready", "/status", "/metrics", "/explorer/pulse"]);

/**
 * Admits requests: finds out whose they are, and takes each from the budget of its key or client address.
 *
 * @throws HttpError 414, 429, 503 where a key can't be looked up
 */
export function createAdmission({
  keyCheck,
  rateLimit,
  rates,
}: {
  keyCheck: KeyCheck;
  rateLimit: RateLimit;
  rates: { limit: number; burst: number };
}): MiddlewareHandler<Env> {
  const tell = (state: RequestState, budget: Budget) => Object.assign(state.headers, rateHeaders(budget, rates));

  /** Takes a request from a budget. @throws HttpError 429 where nothing is left */
  const take = (state: RequestState, id: string): Promise<void> | undefined => {
    const apply = (budget: Budget) => {
      tell(state, budget);
      if (budget.isAllowed) return;
      throw new HttpError(
        429,
        `Too many requests. Expected at most ${rates.limit} a second, ${rates.burst} at once; the next in ${budget.resetSeconds} s.`,
        { "retry-after": String(budget.resetSeconds) },
      );
    };
    const budget = rateLimit.take(id);
    if (budget instanceof Promise) return budget.then(apply);
    apply(budget);
    return undefined;
  };

  return async (c, next) => {
    const state = c.get("state");
    const client = `client:${clientNetwork(state.clientAddress)}`;
    if (c.req.url.length > MAX_URL_LENGTH) {
      tell(state, rateLimit.peek(client));
      throw new HttpError(414, `The URL is too long. Expected at most ${MAX_URL_LENGTH} characters.`);
    }
    if (c.req.method === "OPTIONS" || UNLIMITED.has(c.req.path)) {
      tell(state, rateLimit.peek(client));
      return next();
    }

    const key = c.req.header("x-api-key");
    let checked = key === undefined ? undefined : keyCheck.check(key);
    if (typeof checked === "function") {
      // Looking a key up takes from the address's budget, so that guessing keys is limited.
      await take(state, client);
      checked = await within(KEY_CHECK_WITHIN_MS, checked());
      // Without a valid key the request takes from the address's budget, from which it was taken already.
      if (!checked) return next();
    }
    state.caller = checked;
    if (checked) keyCheck.count(checked);
    const taken = take(state, checked ? `key:${checked.keyHash.slice(0, 32)}` : client);
    if (taken) await taken;
    return next();
  };
}
