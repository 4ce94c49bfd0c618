/** How many large bodies are in memory at once: eight of 5 MB, decoded and parsed, fit into a worker's memory. */
const ALL_SLOTS = 8;
/** How many of them one host may have, so that a slow host leaves slots for others. */
const HOST_SLOTS = 2;

/** A slot that was asked for. `taken` settles when it is ours, or given up. */
export type Slot = { taken: Promise<void>; leave: () => void };

/** Creates slots for large bodies. Leaving while waiting gives up the place in the queue, and ends the wait. */
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
