import { createSeldom, kindOf } from "./seldom.ts";

const isToTell = createSeldom();

/** Logs a fault of the worker for the operator, each kind once a minute. What failed becomes due again by itself. */
export function tellFault(what: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  if (isToTell(`${what} ${kindOf(error)}`)) console.error(`worker: ${what}: ${message}`);
}
