import { setTimeout as sleep } from "node:timers/promises";

const PAUSE_MS = 1_000;

/**
 * Does something once a second until it works, or until the signal. `onFailure` gets the message of a failure: once as
 * long as that stays the same, and not for the first `quietAttempts`.
 */
export async function retry(
  action: () => Promise<unknown>,
  {
    signal,
    onFailure,
    quietAttempts = 0,
  }: { signal: AbortSignal; onFailure: (message: string) => void; quietAttempts?: number },
): Promise<void> {
  let told = "";
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      await action();
      return;
    } catch (error) {
      if (signal.aborted) return;
      const { message } = error as Error;
      if (attempt >= quietAttempts && message !== told) {
        onFailure(message);
        told = message;
      }
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}
