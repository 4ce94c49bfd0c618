import type { Monitor } from "../api/monitor.ts";
import { describeStatus, type Status } from "../api/status.ts";

/** The status as it was at a moment, in milliseconds. */
export type Sample = { at: number; status: Status };

/** What this process has seen, oldest first: the last half hour. */
export type Samples = { list: () => readonly Sample[]; stop: () => void };

const INTERVAL_MS = 2000;
const MAX_SAMPLES = 900;

/** Looks at the status every other second. Costs no request to the database: the monitor asks anyway. */
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
