import { createLogThrottle, kindOf } from "./log-throttle.ts";

const mayLog = createLogThrottle();

/** Logs a fault of the worker for the operator, each kind once a minute. What failed becomes due again by itself. */
export function tellFault(what: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  if (mayLog(`${what} ${kindOf(error)}`)) console.error(`worker: ${what}: ${message}`);
}
