/** Sizes of memory that is kept. Larger bodies are a rare single item. */
const SMALLEST_BYTES = 2 ** 14;
const LARGEST_BYTES = 2 ** 21;
/** Memory that waits for another body, at most. */
const MAX_FREE_BYTES = 2 ** 25;

/** Free memory by its size, and all that is ours with how many are still to give it back. */
const free = new Map<number, ArrayBuffer[]>();
const readersOf = new WeakMap<ArrayBufferLike, number>();
let freeBytes = 0;

/**
 * Memory for a body of at least `size` bytes, with anything in it, to be given back by `giveMemory`. New memory for each
 * page is what V8 counts, and looks through its whole heap for every 64 MB of it.
 */
export function takeMemory(size: number): Buffer {
  const bytes = 2 ** Math.ceil(Math.log2(Math.max(size, SMALLEST_BYTES)));
  const found = free.get(bytes)?.pop();
  if (found) freeBytes -= bytes;
  const memory = found ?? new ArrayBuffer(bytes);
  readersOf.set(memory, 1);
  return Buffer.from(memory);
}

/** Has so many give back the memory of a body, until which it stays. What isn't from `takeMemory` is left alone. */
export function shareMemory({ buffer }: Buffer, { readers }: { readers: number }): void {
  if (readersOf.get(buffer)) readersOf.set(buffer, readers);
}

/** Gives back the memory of a body, once one doesn't read it any more. What isn't from `takeMemory` is left alone. */
export function giveMemory(body: Buffer): void {
  const memory = body.buffer as ArrayBuffer;
  const readers = readersOf.get(memory) ?? 0;
  if (readers === 0) return;
  readersOf.set(memory, readers - 1);
  if (readers > 1) return;
  if (memory.byteLength > LARGEST_BYTES || freeBytes + memory.byteLength > MAX_FREE_BYTES) return;
  freeBytes += memory.byteLength;
  const list = free.get(memory.byteLength);
  if (list) list.push(memory);
  else free.set(memory.byteLength, [memory]);
}

/** Larger memory with the first `used` bytes of `memory`, which is given back, for at least `size`. */
export function growMemory(memory: Buffer, { used, size }: { used: number; size: number }): Buffer {
  const larger = takeMemory(Math.max(memory.length * 2, size));
  memory.copy(larger, 0, 0, used);
  giveMemory(memory);
  return larger;
}
