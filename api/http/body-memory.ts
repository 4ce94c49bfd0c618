/** Memory of these sizes is reused. Larger bodies are rare: they have one large item. */
const SMALLEST_BYTES = 2 ** 14;
const LARGEST_BYTES = 2 ** 21;
/** How much unused memory is kept at most. */
const MAX_FREE_BYTES = 2 ** 25;

/** Unused memory by its size, and for all memory of ours how many readers must still give it back. */
const free = new Map<number, ArrayBuffer[]>();
const readersOf = new WeakMap<ArrayBufferLike, number>();
let freeBytes = 0;

/**
 * Memory for a body of at least `size` bytes, with undefined content, to be given back by `giveMemory`. If each page
 * took new memory, V8 would count it and go through its whole heap for every 64 MB.
 */
export function takeMemory(size: number): Buffer {
  const bytes = 2 ** Math.ceil(Math.log2(Math.max(size, SMALLEST_BYTES)));
  const found = free.get(bytes)?.pop();
  if (found) freeBytes -= bytes;
  const memory = found ?? new ArrayBuffer(bytes);
  readersOf.set(memory, 1);
  return Buffer.from(memory);
}

/** Keeps a body's memory until so many readers have given it back. Memory that isn't from `takeMemory` is ignored. */
export function shareMemory({ buffer }: Buffer, { readers }: { readers: number }): void {
  if (readersOf.get(buffer)) readersOf.set(buffer, readers);
}

/** Gives back a body's memory for one reader. Memory that isn't from `takeMemory` is ignored. */
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

/** Memory for at least `size` bytes, with the first `used` bytes of `memory`, which is given back. */
export function growMemory(memory: Buffer, { used, size }: { used: number; size: number }): Buffer {
  const larger = takeMemory(Math.max(memory.length * 2, size));
  memory.copy(larger, 0, 0, used);
  giveMemory(memory);
  return larger;
}
