/** Large bodies in memory at a time: eight of 5 MB, decoded and parsed, are what the memory of a worker allows. */
const ALL_SLOTS = 8;
/** Those of one host: however slow it is, the others have theirs. */
const HOST_SLOTS = 2;

export type Slot = { taken: Promise<void>; leave: () => void };

/** Slots for what is large. Whoever leaves while it waits needn't wait any more. */
export function createSlots(): (host: string) => Slot {
  type Guest = { host: string; enter: () => void };
  const waiting = new Set<Guest>();
  const inside = new Set<Guest>();

  function admit(): void {
    for (const guest of waiting) {
      if (inside.size >= ALL_SLOTS) return;
      if ([...inside].filter(({ host }) => host === guest.host).length >= HOST_SLOTS) continue;
      waiting.delete(guest);
      inside.add(guest);
      guest.enter();
    }
  }

  return (host) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const guest = { host, enter: resolve };
    waiting.add(guest);
    admit();
    return {
      taken: promise,
      leave: () => {
        waiting.delete(guest);
        resolve();
        if (inside.delete(guest)) admit();
      },
    };
  };
}
