import { createTally } from "../../net/tally.ts";

/**
 * A fetch that takes longer is slow: it may have to leave its place to one of a tenant with at least two fewer. With a
 * difference of one, that one would be put back next; so this is enough only for what takes longer than most slow hosts.
 */
export const SLOW_MS = 2000;
const LONG_MS = 8000;
/** The part of the places, or of a host's lanes, that slow fetches keep. */
const SLOW_PART = 0.5;
/** The part of all places that may be shared ones. The rest is kept for the others. */
const SHARED_PART = 0.5;
/** How many may wait for shared places, as a multiple of these. */
const CROWD_FACTOR = 2;

type Guest = {
  /** Whoever is next by now. */
  readonly tenant: string;
  /** Whether it takes a shared place, of which there are fewer. */
  isShared: boolean;
  run: (place: Place) => void;
  /** Called when its fetch is slow, and again when it takes longer than most slow ones. */
  onSlow: (place: Place, ms: number) => void;
};

/** A place that is held. */
export type Place = {
  /** For whom: all tenants have the same share of the places. */
  readonly tenant: string;
  /** Sets for whom the next fetch is. */
  serve: (tenant: string) => void;
  isShared: boolean;
  /** By how many places its tenant must be ahead of another one for it to be put back. Infinite until it is slow. */
  lead: number;
  /** Ends the fetch that runs, to be tried later. Undefined while none does. */
  putBack: (() => void) | undefined;
  leave: () => void;
};

/** The places for all fetches of a process. */
export type Places = {
  /** Runs `run` once there is a place. */
  enter: (guest: Guest) => void;
  /** Looks again who may come in, after the tenant of one that waits has changed. */
  admit: () => void;
  /**
   * Whether so many of this tenant wait for shared places that another one should come later: as many as there is still
   * room for others. So there is always room for others, and for the first of each tenant.
   */
  isCrowded: (tenant: string) => boolean;
  /**
   * Tenants that have to wait for their own slow fetches: these are most of what they have, and slow ones have more than
   * their part of all places.
   */
  heldUp: () => Set<string>;
  /** Whether twice as many wait for the other places as there are places, without those of tenants that are held up. */
  isFull: () => boolean;
};

/**
 * Creates places for fetches, `concurrency` of them. Where there is none left, and slow fetches have more than their
 * part, the newest slow one of the tenant with the most fetches is put back for a tenant with fewer. So neither hosts
 * without number that don't answer nor hosts that fall silent hold up others for long, and what is slow but honest is put
 * back only where its tenant has more than its share.
 */
export function createPlaces({ concurrency }: { concurrency: number }): Places {
  const sharedConcurrency = Math.max(1, Math.floor(concurrency * SHARED_PART));
  /** In the order in which they came. */
  const waiting = { shared: new Set<Guest>(), others: new Set<Guest>() };
  /** In the order in which they were taken. */
  const taken = new Set<Place>();
  /** Those of them whose fetch is slow. Kept, because they are asked for with each fetch. */
  const slow = new Set<Place>();
  let sharedTaken = 0;
  let isAdmitting = false;
  /** How many places each tenant has. Kept, because counting all places for each fetch took a hundredth of the worker. */
  const { of: heldBy, change: changeHeld } = createTally();

  /** Whose tenant holds least, and of these who came first. */
  function findNext(guests: Set<Guest>): Guest | undefined {
    let next: Guest | undefined;
    let least = Infinity;
    for (const guest of guests) {
      const count = heldBy(guest.tenant);
      if (count >= least) continue;
      next = guest;
      least = count;
      if (least === 0) break;
    }
    return next;
  }

  const isRoomShared = () => sharedTaken < sharedConcurrency;
  const isRoomFor = ({ isShared }: Guest) => taken.size < concurrency && (!isShared || isRoomShared());

  /** Puts a slow fetch back whose tenant holds more. Returns whether there was one. */
  function putBackFor(guest: Guest): boolean {
    const isAmongShared = guest.isShared && !isRoomShared();
    const among = [...slow].filter(({ isShared }) => isShared || !isAmongShared);
    const most = isAmongShared ? sharedConcurrency : concurrency;
    const place = findSlow(among, { most, heldBy, least: heldBy(guest.tenant) });
    if (!place) return false;
    release(place);
    putBack(place);
    return true;
  }

  /** Whether nobody may come in, whoever waits: all places are taken, and none by what is slow. */
  const isClosed = () => taken.size >= concurrency && slow.size === 0;

  /** Lets in whoever may come in. Those who leave at once, because nothing is left to fetch, are followed by the next. */
  function admit(): void {
    if (isAdmitting) return;
    isAdmitting = true;
    while (waiting.shared.size + waiting.others.size > 0 && !isClosed()) {
      const next = [findNext(waiting.others), findNext(waiting.shared)]
        .filter((guest) => guest !== undefined)
        .toSorted((a, b) => heldBy(a.tenant) - heldBy(b.tenant))
        .find((guest) => isRoomFor(guest) || putBackFor(guest));
      if (!next) break;
      start(next);
    }
    isAdmitting = false;
  }

  function start(guest: Guest): void {
    const { isShared } = guest;
    let { tenant } = guest;
    (isShared ? waiting.shared : waiting.others).delete(guest);
    const leadFrom = (ms: number, lead: number) =>
      setTimeout(() => {
        place.lead = lead;
        if (taken.has(place)) slow.add(place);
        guest.onSlow(place, ms);
        admit();
      }, ms);
    const timers = [leadFrom(SLOW_MS, 2), leadFrom(LONG_MS, 1)];
    const place: Place = {
      get tenant() {
        return tenant;
      },
      serve: (next) => {
        if (next === tenant || !taken.has(place)) return;
        changeHeld(tenant, -1);
        tenant = next;
        changeHeld(tenant, 1);
      },
      isShared,
      lead: Infinity,
      putBack: undefined,
      leave: () => {
        for (const timer of timers) clearTimeout(timer);
        release(place);
        admit();
      },
    };
    taken.add(place);
    changeHeld(tenant, 1);
    if (isShared) sharedTaken++;
    guest.run(place);
  }

  function release(place: Place): void {
    if (!taken.delete(place)) return;
    slow.delete(place);
    changeHeld(place.tenant, -1);
    if (place.isShared) sharedTaken--;
  }

  function heldUp(): Set<string> {
    const counts = new Map<string, number>();
    if (slow.size <= concurrency * SLOW_PART) return new Set();
    for (const { tenant } of slow) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
    return new Set([...counts.keys()].filter((tenant) => counts.get(tenant)! > heldBy(tenant) * SLOW_PART));
  }

  function isFull(): boolean {
    const most = concurrency * 2;
    if (waiting.others.size < most) return false;
    const tenants = heldUp();
    return [...waiting.others].filter(({ tenant }) => !tenants.has(tenant)).length >= most;
  }

  return {
    enter: (guest) => {
      (guest.isShared ? waiting.shared : waiting.others).add(guest);
      admit();
    },
    admit,
    isCrowded: (tenant) => {
      const mine = [...waiting.shared].filter((guest) => guest.tenant === tenant).length;
      return mine > 0 && mine >= sharedConcurrency * CROWD_FACTOR - waiting.shared.size;
    },
    heldUp,
    isFull,
  };
}

/**
 * The newest slow fetch of the tenant that holds most, where slow ones have more than their part of `most` places, and it
 * must leave its place to a tenant that holds `least`.
 */
export function findSlow(
  places: Iterable<Place>,
  { most, heldBy, least }: { most: number; heldBy: (tenant: string) => number; least: number },
): Place | undefined {
  const slow = [...places].filter(({ lead }) => lead < Infinity);
  if (slow.length <= most * SLOW_PART) return undefined;
  let found: Place | undefined;
  for (const place of slow) {
    const count = heldBy(place.tenant);
    if (!place.putBack || count - least < place.lead) continue;
    if (!found || count >= heldBy(found.tenant)) found = place;
  }
  return found;
}

/** Ends a place's fetch, to be tried later. */
export function putBack(place: Place): void {
  const end = place.putBack;
  place.putBack = undefined;
  end?.();
}
