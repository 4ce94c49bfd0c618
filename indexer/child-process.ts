import type { ChildProcess } from "node:child_process";
import { join } from "node:path";

/**
 * Has a process of Node take packages from the bundle, where there is one: an API or a worker takes a third less CPU until
 * it works, a command half.
 */
export const FROM_BUNDLE = [
  "--import",
  // Not its path, which may have signs of URLs.
  new URL("ponder/bundle-preload.ts", import.meta.url).href,
];

/**
 * Where Node keeps compiled code. With that the second start of a process takes a fifth (Ponder) to a half (API) less CPU
 * until it works.
 */
export const COMPILED = join(import.meta.dirname, "../node_modules/.cache/compiled");

/** The environment of the processes that we start: ours, and where Node keeps compiled code. */
export const childEnvironment = () => ({ NODE_COMPILE_CACHE: COMPILED, ...process.env });

/** Asks a process to end, and kills it after `withinMs`. `ended` settles when it has ended. */
export async function endProcess(
  child: ChildProcess,
  { ended, withinMs }: { ended: Promise<unknown>; withinMs: number },
): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), withinMs);
  await ended;
  clearTimeout(timer);
}

/** Waits for `child` to end and returns why. The signal stops it. */
export async function untilEnded<T>(
  child: { ended: Promise<T>; stop: () => Promise<void> },
  signal: AbortSignal,
): Promise<T> {
  const stop = () => void child.stop();
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const reason = await child.ended;
  signal.removeEventListener("abort", stop);
  return reason;
}
