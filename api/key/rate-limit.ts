import type { RateStore } from "./rate-store.ts";
import { createSharedWindows, STORE_WITHIN_MS } from "./shared-window.ts";

/** What a client is told of its budget. */
export type Budget = { isAllowed: boolean; remaining: number; resetSeconds: number };

/** The budgets of all clients, by an id of the caller's choice. */
export type RateLimit = {
  /** Takes a request from the budget of `id`. Returns a promise only where the shared store must be asked first. */
  take: (id: string) => Budget | Promise<Budget>;
  /** The budget of `id` as this process knows it. Takes nothing. */
  peek: (id: string) => Budget;
  stop: () => void;
};

/** The windows in seconds: of the rate, and of the burst, the part that goes beyond the rate. */
const RATE_SECONDS = 1;
export const BURST_SECONDS = 10;
/**
 * How much a process takes from the store in advance, so that not each request needs a round trip: a part of what is left
 * in a window, but no more than a part of what the client got from it in this second or the one before. What it doesn't
 * use lapses with the window. With the first bound alone, a client who asks 16 processes in turn was refused at 30 of 50
 * requests a second.
 */
const LEASE_SHARE = 0.1;
const USE_SHARE = 0.25;
/**
 * For those who wait already it takes more: of a store that answers in 50 ms, one client's requests became ever more that
 * waited. Not all that is left, which other processes may want meanwhile.
 */
const WAITING_SHARE = 0.5;
const SWEEP_MS = 10_000;

/** What this process has of one client's budget. Times are of `performance.now()`, which never goes back. */
type Account = {
  granted: number;
  grantEndsAt: number;
  /** How many requests were admitted in this second's window, and in the one before. */
  used: number;
  usedBefore: number;
  /** What was left in the store's windows at its last answer. */
  rateLeft: number;
  burstLeft: number;
  windowEndsAt: number;
  burstEndsAt: number;
  blockedUntil: number;
  /** How many requests wait for the store. */
  waiting: number;
  pending: Promise<boolean> | undefined;
};

/**
 * Limits each client to `limit` requests a second and up to `burst` at once, no fewer, over all processes that share the
 * store.
 *
 * A client's first request in a window is admitted while the store is asked, so that slow clients never wait for it. So
 * each process may admit one request too many in a second.
 */
export function createRateLimit({
  limit,
  burst,
  store,
  isStoreUp,
}: {
  limit: number;
  burst: number;
  store: RateStore;
  isStoreUp: () => boolean;
}): RateLimit {
  const extra = burst - limit;
  const windows = createSharedWindows({ store, isStoreUp });
  const rate = windows.create({ keyPrefix: "rate", points: limit, duration: RATE_SECONDS });
  const over = extra > 0 ? windows.create({ keyPrefix: "burst", points: extra, duration: BURST_SECONDS }) : undefined;
  const accounts = new Map<string, Account>();

  const createAccount = (): Account => ({
    granted: 0,
    grantEndsAt: 0,
    used: 0,
    usedBefore: 0,
    rateLeft: limit,
    burstLeft: extra,
    windowEndsAt: 0,
    burstEndsAt: 0,
    blockedUntil: 0,
    waiting: 0,
    pending: undefined,
  });

  /** Takes a request from the store, for who asks, and some more in advance. Returns whether it got them. */
  async function lease(id: string, account: Account): Promise<boolean> {
    const now = performance.now();
    if (account.windowEndsAt <= now) {
      account.rateLeft = limit;
      account.usedBefore = account.used;
      account.used = 0;
    }
    if (account.burstEndsAt <= now) account.burstLeft = extra;
    const likely = Math.max(account.used, account.usedBefore) * USE_SHARE;
    // Of who waits already this one is there.
    const inAdvance = (left: number) =>
      Math.floor(Math.max(Math.min(left * LEASE_SHARE, likely), Math.min(left * WAITING_SHARE, account.waiting - 1)));

    const ahead = inAdvance(account.rateLeft);
    const fromRate = await rate.take(id, 1 + ahead);
    account.rateLeft = fromRate.left;
    account.windowEndsAt = performance.now() + fromRate.ms;
    if (fromRate.granted > 0) return grant(account, fromRate.granted - 1, account.windowEndsAt);

    if (over) {
      const more = inAdvance(account.burstLeft);
      const fromBurst = await over.take(id, 1 + more);
      account.burstLeft = fromBurst.left;
      account.burstEndsAt = performance.now() + fromBurst.ms;
      if (fromBurst.granted > 0) return grant(account, fromBurst.granted - 1, account.burstEndsAt);
    }
    account.blockedUntil = account.windowEndsAt;
    return false;
  }

  function startLease(id: string, account: Account): Promise<boolean> {
    account.pending = lease(id, account).finally(() => {
      account.pending = undefined;
    });
    return account.pending;
  }

  const budgetOf = (account: Account, isAllowed: boolean): Budget => {
    const now = performance.now();
    const rateLeft = account.windowEndsAt > now ? account.rateLeft : limit;
    const burstLeft = account.burstEndsAt > now ? account.burstLeft : extra;
    const granted = account.grantEndsAt > now ? Math.max(0, account.granted) : 0;
    return {
      isAllowed,
      // What is left of the store's answers and of this process's own windows may come together.
      remaining: isAllowed ? Math.min(rateLeft + burstLeft + granted, burst) : 0,
      resetSeconds: Math.max(1, Math.ceil((account.windowEndsAt - now) / 1000)),
    };
  };

  /** Waits for a lease, its own where nobody has begun one: that admits it, however late the answer is noticed. */
  async function takeSlowly(id: string, account: Account): Promise<Budget> {
    const lateAt = performance.now() + STORE_WITHIN_MS;
    account.waiting++;
    try {
      for (;;) {
        // Each answer may have come in time, but too late for who waited for several.
        if (performance.now() > lateAt) windows.giveUp();
        if (account.pending) await account.pending;
        else if (await startLease(id, account)) return budgetOf(account, true);
        if (spend(account, performance.now())) return budgetOf(account, true);
        if (account.blockedUntil > performance.now()) return budgetOf(account, false);
      }
    } finally {
      account.waiting--;
    }
  }

  const sweep = setInterval(() => {
    const now = performance.now();
    for (const [id, account] of accounts)
      if (Math.max(account.grantEndsAt, account.windowEndsAt, account.burstEndsAt) < now && !account.pending)
        accounts.delete(id);
  }, SWEEP_MS);
  sweep.unref();

  return {
    take: (id) => {
      const now = performance.now();
      let account = accounts.get(id);
      if (account === undefined) accounts.set(id, (account = createAccount()));
      if (account.blockedUntil > now) return budgetOf(account, false);
      if (spend(account, now)) return budgetOf(account, true);
      if (account.pending || account.windowEndsAt > now) return takeSlowly(id, account);
      // The first request of a window: the lease pays for it afterwards.
      void startLease(id, account);
      return budgetOf({ ...account, rateLeft: limit - 1, windowEndsAt: now + RATE_SECONDS * 1000 }, true);
    },
    peek: (id) => budgetOf(accounts.get(id) ?? createAccount(), true),
    stop: () => clearInterval(sweep),
  };
}

/** Admits a request out of what was taken in advance. False where nothing of that is left. */
function spend(account: Account, now: number): boolean {
  if (account.granted === 0 || account.grantEndsAt <= now) return false;
  account.granted -= 1;
  account.used += 1;
  return true;
}

/** Notes a lease: one request of it is admitted, the others are there until it ends. */
function grant(account: Account, ahead: number, endsAt: number): true {
  // The earlier grant is used up, or there would have been no lease.
  account.granted = ahead;
  account.grantEndsAt = endsAt;
  account.used += 1;
  return true;
}

/**
 * The headers for a budget: those of the IETF draft, and those of its earlier version, which more clients read. The
 * policy is the rate, so that a client that keeps to it is never refused. The burst is a parameter of it, because it
 * takes longer to come back.
 */
export function rateHeaders(
  budget: Budget,
  { limit, burst }: { limit: number; burst: number },
): Record<string, string> {
  const remaining = String(budget.remaining);
  const reset = String(budget.resetSeconds);
  return {
    "ratelimit-policy": `"default";q=${limit};w=${RATE_SECONDS}${burst > limit ? `;burst=${burst}` : ""}`,
    ratelimit: `"default";r=${remaining};t=${reset}`,
    "ratelimit-limit": String(burst),
    "ratelimit-remaining": remaining,
    "ratelimit-reset": reset,
  };
}
