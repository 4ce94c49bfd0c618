import { RateLimiterMemory, RateLimiterRes, type RateLimiterAbstract } from "rate-limiter-flexible";
import { within } from "../sql/deadline.ts";
import type { RateStore } from "./rate-store.ts";

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
/** If the store takes longer than this, the request is decided without it. */
export const STORE_WITHIN_MS = 1500;
/**
 * After that, all requests are decided without it until it answers again, so that a store that hangs is waited for only
 * once. It is asked so often, and nobody waits for that.
 */
const PROBE_MS = 2000;
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
  const window = (keyPrefix: string, points: number, duration: number) => {
    // Used where the store fails: then each process counts for itself.
    const alone = new RateLimiterMemory({ keyPrefix, points, duration });
    return { alone, shared: store({ keyPrefix, points, duration, insuranceLimiter: alone }) };
  };
  const rate = window("rate", limit, RATE_SECONDS);
  const over = extra > 0 ? window("burst", extra, BURST_SECONDS) : undefined;
  const accounts = new Map<string, Account>();
  // Without a window of this process that would answer in its place.
  const probed = store({ keyPrefix: "probe", points: limit, duration: RATE_SECONDS });
  let isHanging = false;
  let probeAt = 0;
  const isShared = () => isStoreUp() && !isHanging;
  const onLate = () => {
    isHanging = true;
    probeAt = performance.now() + PROBE_MS;
  };

  /** Asks a store that hangs whether it answers again. */
  async function probe(): Promise<void> {
    if (probeAt > performance.now()) return;
    probeAt = performance.now() + PROBE_MS;
    const failure = await within(STORE_WITHIN_MS, probed.consume("")).then(
      () => undefined,
      (error: unknown) => error,
    );
    isHanging = failure !== undefined && !(failure instanceof RateLimiterRes);
  }

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
    pending: undefined,
  });

  /** Takes a request from the store, for who asks, and some more in advance. Returns whether it got them. */
  async function lease(id: string, account: Account): Promise<boolean> {
    if (isHanging) void probe();
    const now = performance.now();
    if (account.windowEndsAt <= now) {
      account.rateLeft = limit;
      account.usedBefore = account.used;
      account.used = 0;
    }
    if (account.burstEndsAt <= now) account.burstLeft = extra;
    const likely = Math.max(account.used, account.usedBefore) * USE_SHARE;
    const inAdvance = (left: number) => Math.floor(Math.min(left * LEASE_SHARE, likely));

    const ahead = inAdvance(account.rateLeft);
    const fromRate = await consume(rate, { id, points: 1 + ahead, isShared: isShared(), onLate });
    account.rateLeft = fromRate.left;
    account.windowEndsAt = performance.now() + fromRate.ms;
    if (fromRate.isGranted) return grant(account, ahead, account.windowEndsAt);

    if (over) {
      const more = inAdvance(account.burstLeft);
      const fromBurst = await consume(over, { id, points: 1 + more, isShared: isShared(), onLate });
      account.burstLeft = fromBurst.left;
      account.burstEndsAt = performance.now() + fromBurst.ms;
      if (fromBurst.isGranted) return grant(account, more, account.burstEndsAt);
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
      remaining: isAllowed ? rateLeft + burstLeft + granted : 0,
      resetSeconds: Math.max(1, Math.ceil((account.windowEndsAt - now) / 1000)),
    };
  };

  /** Waits for a lease, its own where nobody has begun one: that admits it, however late the answer is noticed. */
  async function takeSlowly(id: string, account: Account): Promise<Budget> {
    for (;;) {
      if (account.pending) await account.pending;
      else if (await startLease(id, account)) return budgetOf(account, true);
      if (spend(account, performance.now())) return budgetOf(account, true);
      if (account.blockedUntil > performance.now()) return budgetOf(account, false);
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

type Answer = { isGranted: boolean; left: number; ms: number };

/** Takes points from the shared window, or from this process's own where the store fails or is slow. */
async function consume(
  { alone, shared }: { alone: RateLimiterAbstract; shared: RateLimiterAbstract },
  { id, points, isShared, onLate }: { id: string; points: number; isShared: boolean; onLate: () => void },
): Promise<Answer> {
  // The window ends by the clock of the process that began it, which may differ from ours.
  const msLeft = ({ msBeforeNext }: RateLimiterRes) => Math.min(msBeforeNext, alone.duration * 1000);
  const answer = async (limiter: RateLimiterAbstract): Promise<Answer> => {
    try {
      const result = await limiter.consume(id, points);
      return { isGranted: true, left: result.remainingPoints, ms: msLeft(result) };
    } catch (error) {
      if (error instanceof RateLimiterRes) return { isGranted: false, left: 0, ms: msLeft(error) };
      throw error;
    }
  };
  if (!isShared) return answer(alone);
  // `asked` never rejects, so `within` rejects only where it is late.
  const asked = answer(shared).catch(() => answer(alone));
  return within(STORE_WITHIN_MS, asked).catch(() => {
    onLate();
    return answer(alone);
  });
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
