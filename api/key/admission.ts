import type { MiddlewareHandler } from "hono";
import { clientNetwork } from "../http/client-address.ts";
import { HttpError } from "../http/errors.ts";
import type { Env, RequestState } from "../http/request-state.ts";
import type { Caller } from "./key.ts";
import type { FindCaller, KeyCheck } from "./key-check.ts";
import { type Budget, type RateLimit, rateHeaders } from "./rate-limit.ts";
import { within } from "../sql/deadline.ts";

/** A key that this process doesn't know is looked up. If the database hangs, the answer is 503 after this time. */
const KEY_CHECK_WITHIN_MS = 3000;
/** Enough for 250 padded ids in `tokens_ids`, which take 20 kB. */
export const MAX_URL_LENGTH = 32_768;
/**
 * Paths without a rate limit: monitoring must not be refused because somebody else at its address asks too much, and a
 * page that says so needs its style, and its script to ask again.
 */
const UNLIMITED = /^\/(?:health|ready|status|metrics|explorer\/(?:pulse|assets\/[^/]+))$/;

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

  /** Look-ups under way, by address and key. */
  const lookUps = new Map<string, Promise<Caller | undefined>>();

  /**
   * Looks a key up, once for all requests that come with it at the same time. It takes from a budget of the address that
   * is for nothing else: guessing keys is limited, and a good key isn't refused for what others at its address ask for.
   */
  const lookUp = (state: RequestState, { network, key, find }: { network: string; key: string; find: FindCaller }) => {
    const budget = `look-up:${network}`;
    tell(state, rateLimit.peek(budget));
    const id = `${network} ${key}`;
    const findPaid = async () => {
      await take(state, budget);
      return within(KEY_CHECK_WITHIN_MS, find());
    };
    const found = lookUps.get(id) ?? findPaid().finally(() => lookUps.delete(id));
    lookUps.set(id, found);
    return found;
  };

  return async (c, next) => {
    const state = c.get("state");
    const network = clientNetwork(state.clientAddress);
    const client = `client:${network}`;
    if (c.req.url.length > MAX_URL_LENGTH) {
      tell(state, rateLimit.peek(client));
      throw new HttpError(414, `The URL is too long. Expected at most ${MAX_URL_LENGTH} characters.`);
    }
    if (c.req.method === "OPTIONS" || UNLIMITED.test(c.req.path)) {
      tell(state, rateLimit.peek(client));
      return next();
    }

    const key = c.req.header("x-api-key") ?? "";
    const known = keyCheck.check(key);
    const caller = typeof known === "function" ? await lookUp(state, { network, key, find: known }) : known;
    state.caller = caller;
    if (caller) keyCheck.count(caller);
    const taken = take(state, caller ? `key:${caller.keyHash.slice(0, 32)}` : client);
    if (taken) await taken;
    return next();
  };
}
