/** What many tokens meet at once, a database that is gone or a full disk, is told so often. */
const AGAIN_AFTER_MS = 60_000;

/** When each was told last: of a few things, failures of a few kinds. */
const toldAt = new Map<string, number>();

/** Tells the operator what the worker can't do, the same once a minute. What it was for is due again by itself. */
export function tellFault(what: string, error: unknown): void {
  const { code, message } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error) };
  // Messages of one kind may name a file each.
  const kind = `${what} ${code ?? message.replaceAll(/[\da-f-]{32,}/g, "")}`;
  const now = performance.now();
  if (now - (toldAt.get(kind) ?? -Infinity) < AGAIN_AFTER_MS) return;
  for (const [old, at] of toldAt) if (now - at >= AGAIN_AFTER_MS) toldAt.delete(old);
  toldAt.set(kind, now);
  console.error(`worker: ${what}: ${message}`);
}
