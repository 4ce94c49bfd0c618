/**
 * The same fault is logged at most once in this time: a lost database or a full disk would be logged for many tokens at
 * once.
 */
const AGAIN_AFTER_MS = 60_000;

/** When each kind of fault was last logged. There are few kinds. */
const toldAt = new Map<string, number>();

/** Logs a fault of the worker for the operator, each kind once a minute. What failed becomes due again by itself. */
export function tellFault(what: string, error: unknown): void {
  const { code, message } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error) };
  // Messages of one kind may each name another file.
  const kind = `${what} ${code ?? message.replaceAll(/[\da-f-]{32,}/g, "")}`;
  const now = performance.now();
  if (now - (toldAt.get(kind) ?? -Infinity) < AGAIN_AFTER_MS) return;
  for (const [old, at] of toldAt) if (now - at >= AGAIN_AFTER_MS) toldAt.delete(old);
  toldAt.set(kind, now);
  console.error(`worker: ${what}: ${message}`);
}
