/** What goes wrong again and again is told once in this time: it may meet many tokens or requests at once. */
const AGAIN_AFTER_MS = 60_000;

/** What kind an error is of: its code, or its message without what it names. */
export function kindOf(error: unknown): string {
  const { code, message } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error) };
  // Messages of one kind may each name another file.
  return code ?? message.replaceAll(/[\da-f-]{32,}/g, "");
}

/** Makes a function that says whether something of a kind is to be told now, which it is once a minute. */
export function createSeldom(): (kind: string) => boolean {
  const toldAt = new Map<string, number>();
  return (kind) => {
    const now = performance.now();
    for (const [old, at] of toldAt) if (now - at >= AGAIN_AFTER_MS) toldAt.delete(old);
    if (toldAt.has(kind)) return false;
    toldAt.set(kind, now);
    return true;
  };
}
