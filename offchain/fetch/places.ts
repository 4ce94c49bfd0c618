/** A fetch that takes longer is slow: it gives its place to another one, and goes on beside. */
const PROMPT_MS = 2000;
/** How many slow fetches go on beside at most, as a multiple of the places. Any more keep their places. */
const SLOW_FACTOR = 2;
/** The part of all places that may be shared ones. The rest is kept for the others. */
const SHARED_PART = 0.5;
/** How many may wait for shared places, as a multiple of these. */
const CROWD_FACTOR = 2;

/** A place that is held. */
export type Place = {
  /** For whom, set anew with each fetch: all tenants have the same share of the places. */
  tenant: string;
  /** Ends the fetch that runs, to be tried later. Undefined while none does. */
  putBack: (() => void) | undefined;
  leave: () => void;
};

type Guest = {
  tenant: string;
  /** Whether it takes a shared place, of which there are fewer. */
  isShared: boolean;
  run: (place: Place) => void;
};

export type Places = {
  /** Runs `run` once there is a place. */
  enter: (guest: Guest) => void;
  /**
   * Whether so many of this tenant wait for shared places that another one should come later: as many as there is still
   * room for others. So there is always room for others, and for the first of each tenant.
   */
  isCrowded: (tenant: string) => boolean;
  /** Whether twice as many wait for the other places as there are places. */
  isFull: () => boolean;
};

/**
 * Creates places for fetches. A slow fetch goes on without one. Where no more of them may, the newest one of the tenant
 * with the most fetches is put back for a tenant with fewer. So neither hosts without number that don't answer nor hosts
 * that fall silent hold up others for long, and what is slow but honest is put back only where its tenant has more than
 * its share.
 */
export function createPlaces({ concurrency }: { concurrency: number }): Places {
  const sharedConcurrency = Math.max(1, Math.floor(concurrency * SHARED_PART));
  const waiting = new Set<Guest>();
  const prompt = new Set<Place>();
  const slow = new Set<Place>();
  let promptShared = 0;

  /** How many fetches each tenant has. */
  function countHeld(): Map<string, number> {
    const held = new Map<string, number>();
    for (const { tenant } of [...prompt, ...slow]) held.set(tenant, (held.get(tenant) ?? 0) + 1);
    return held;
  }

  /** Who is next: whose tenant holds least, and of these who came first. */
  function findNext(held: Map<string, number>): Guest | undefined {
    let next: Guest | undefined;
    let least = Infinity;
    for (const guest of waiting) {
      if (guest.isShared && promptShared >= sharedConcurrency) continue;
      const count = held.get(guest.tenant) ?? 0;
      if (count >= least) continue;
      next = guest;
      least = count;
    }
    return next;
  }

  /** Puts a slow fetch back for a tenant who holds less. Returns whether there was one. */
  function putBackFor(tenant: string, held: Map<string, number>): boolean {
    const heldBy = (other: string) => held.get(other) ?? 0;
    let newest: Place | undefined;
    for (const place of slow) {
      if (place.putBack && heldBy(place.tenant) >= heldBy(newest?.tenant ?? "")) newest = place;
    }
    // With a difference of one, the other one would be put back next.
    if (!newest || heldBy(newest.tenant) <= heldBy(tenant) + 1) return false;
    slow.delete(newest);
    newest.putBack?.();
    return true;
  }

  function admit(): void {
    while (waiting.size > 0) {
      const held = countHeld();
      const next = findNext(held);
      if (!next) return;
      const isFree = prompt.size + Math.max(slow.size - concurrency * SLOW_FACTOR, 0) < concurrency;
      if (!isFree && !(slow.size > concurrency * SLOW_FACTOR && putBackFor(next.tenant, held))) return;
      start(next);
    }
  }

  function start(guest: Guest): void {
    waiting.delete(guest);
    const becomeSlow = () => {
      stopBeingPrompt();
      slow.add(place);
      admit();
    };
    const timer = setTimeout(becomeSlow, PROMPT_MS);
    function stopBeingPrompt(): void {
      clearTimeout(timer);
      if (prompt.delete(place) && guest.isShared) promptShared--;
    }
    const place: Place = {
      tenant: guest.tenant,
      putBack: undefined,
      leave: () => {
        stopBeingPrompt();
        slow.delete(place);
        admit();
      },
    };
    prompt.add(place);
    if (guest.isShared) promptShared++;
    guest.run(place);
  }

  return {
    enter: (guest) => {
      waiting.add(guest);
      admit();
    },
    isCrowded: (tenant) => {
      const shared = [...waiting].filter(({ isShared }) => isShared);
      const mine = shared.filter((guest) => guest.tenant === tenant).length;
      return mine > 0 && mine >= sharedConcurrency * CROWD_FACTOR - shared.length;
    },
    isFull: () => [...waiting].filter(({ isShared }) => !isShared).length >= concurrency * 2,
  };
}
