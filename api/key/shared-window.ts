import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { within } from "../sql/deadline.ts";
import type { RateStore } from "./rate-store.ts";

/** A request that has waited for the store for so long is decided without it. */
export const STORE_WITHIN_MS = 1500;
/**
 * After that, all requests are decided without it until it answers again, so that a store that hangs is waited for only
 * once. It is asked so often, and nobody waits for that.
 */
const PROBE_MS = 2000;

/**
 * What came of asking for points. `granted`: all of them, or else one or none. `left`: how many are left in the window,
 * which ends in `ms` milliseconds.
 */
type Taken = { granted: number; left: number; ms: number };

/** `points` in `duration` seconds for each id, over all processes that share the store. */
type SharedWindow = { take: (id: string, points: number) => Promise<Taken> };

/** Windows on one store. */
type SharedWindows = {
  create: (window: { keyPrefix: string; points: number; duration: number }) => SharedWindow;
  /** Goes on without the store until it answers a probe. */
  giveUp: () => void;
};

/** Creates windows on a store. Where it fails, is slow or isn't up, each process counts for itself. */
export function createSharedWindows({
  store,
  isStoreUp,
}: {
  store: RateStore;
  isStoreUp: () => boolean;
}): SharedWindows {
  // Without a window of this process that would answer in its place.
  const probed = store({ keyPrefix: "probe", points: 1, duration: 1 });
  let isHanging = false;
  let probeAt = 0;

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

  function giveUp(): void {
    if (isHanging) return;
    isHanging = true;
    probeAt = performance.now() + PROBE_MS;
  }

  return {
    create: (window) => {
      const alone = new RateLimiterMemory(window);
      const shared = store({ ...window, insuranceLimiter: alone });
      return {
        take: (id, points) => {
          if (isHanging) void probe();
          if (isHanging || !isStoreUp()) return takeFrom(alone, { id, points });
          // `asked` never rejects, so `within` rejects only where it is late.
          const asked = takeFrom(shared, { id, points }).catch(() => takeFrom(alone, { id, points }));
          return within(STORE_WITHIN_MS, asked).catch(() => {
            giveUp();
            return takeFrom(alone, { id, points });
          });
        },
      };
    },
    giveUp,
  };
}

async function takeFrom(limiter: RateLimiterAbstract, { id, points }: { id: string; points: number }): Promise<Taken> {
  // The window ends by the clock of the process that began it, which may differ from ours.
  const msLeft = ({ msBeforeNext }: RateLimiterRes) => Math.min(msBeforeNext, limiter.duration * 1000);
  try {
    const result = await limiter.consume(id, points);
    return { granted: points, left: result.remainingPoints, ms: msLeft(result) };
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    if (points === 1) return { granted: 0, left: 0, ms: msLeft(error) };
    // All of them are counted though none is granted. One may be there.
    const result = await limiter.reward(id, points - 1);
    const isThere = result.consumedPoints <= limiter.points;
    // Where the next window has begun meanwhile, it has more.
    const left = Math.min(result.remainingPoints, limiter.points);
    return { granted: isThere ? 1 : 0, left, ms: msLeft(result) };
  }
}
