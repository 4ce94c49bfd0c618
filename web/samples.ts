import type { Monitor } from "../api/monitor.ts";
import { describeStatus, type Status } from "../api/status.ts";

/** The status at a moment. `at` is in milliseconds. */
export type Sample = { at: number; status: Status };

/** Samples of the last half hour that this process took, oldest first. */
export type Samples = { list: () => readonly Sample[]; stop: () => void };

const INTERVAL_MS = 2000;
const MAX_SAMPLES = 900;

/** Takes a sample of the status every two seconds, from the monitor, without a query of its own. */
export function startSamples(monitor: Monitor): Samples {
  const samples: Sample[] = [];
  const take = () => {
    samples.push({ at: Date.now(), status: describeStatus(monitor) });
    if (samples.length > MAX_SAMPLES) samples.shift();
  };
  take();
  const timer = setInterval(take, INTERVAL_MS).unref();
  return { list: () => samples, stop: () => clearInterval(timer) };
}
