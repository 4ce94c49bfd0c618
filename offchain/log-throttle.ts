/** What goes wrong again and again is logged once in this time: it may meet many tokens or requests at once. */
const AGAIN_AFTER_MS = 60_000;

/** What kind an error is of: its code, or its message without what it names. */
export function kindOf(error: unknown): string {
  const { code, message } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error) };
  // Messages of one kind may each name another file.
  return code ?? message.replaceAll(/[\da-f-]{32,}/g, "");
}

/** Creates a function that says whether something of a kind may be logged now: once a minute. */
export function createLogThrottle(): (kind: string) => boolean {
  const loggedAt = new Map<string, number>();
  return (kind) => {
    const now = performance.now();
    for (const [old, at] of loggedAt) if (now - at >= AGAIN_AFTER_MS) loggedAt.delete(old);
    if (loggedAt.has(kind)) return false;
    loggedAt.set(kind, now);
    return true;
  };
}
