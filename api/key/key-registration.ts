import type { Sql } from "postgres";
import { HttpError, unavailable } from "../http/errors.ts";
import { createClientBudget } from "./client-budget.ts";
import { createKey, type NewKey } from "./key.ts";
import type { Monitor } from "../monitor.ts";
import type { RateStore } from "./rate-store.ts";
import { ANSWER_WITHIN_MS, within } from "../sql/deadline.ts";

/** How many keys a client address gets in an hour. */
export const KEYS_PER_HOUR = 20;
const HOUR_SECONDS = 3600;

/** Registration by JSON and on the web page, which share the budget of a client address. */
export type KeyRegistration = {
  isOpen: boolean;
  /** @throws HttpError 403 where registration is closed */
  requireOpen: () => void;
  /** @throws HttpError 403, 429 for too many keys, 503 without a database */
  register: (options: { name: string; clientAddress: string }) => Promise<NewKey>;
};

/**
 * Creates registration as configured. `store` counts keys by address for all processes. If it fails or is slow, this
 * process counts for itself.
 */
export function createKeyRegistration({
  sql,
  monitor,
  store,
  isOpen,
}: {
  sql: Sql;
  monitor: Monitor;
  store: RateStore;
  isOpen: boolean;
}): KeyRegistration {
  const budget = createClientBudget({
    store,
    name: "register",
    most: KEYS_PER_HOUR,
    seconds: HOUR_SECONDS,
    what: "keys",
    each: "an hour",
  });
  const requireOpen = () => {
    if (!isOpen) throw new HttpError(403, "Registration is closed. Expected a key from the operator.");
  };
  return {
    isOpen,
    requireOpen,
    register: async ({ name, clientAddress }) => {
      requireOpen();
      if (!monitor.isReachable()) throw unavailable("The database is unreachable.");
      await budget.take(clientAddress);
      return within(ANSWER_WITHIN_MS, createKey(sql, { name }));
    },
  };
}
