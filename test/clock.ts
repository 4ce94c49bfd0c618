import { onTestFinished, vi } from "vitest";

/** Stops the clock until the end of the test. So who is refused for asking too much stays so, however long a page takes. */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
}
