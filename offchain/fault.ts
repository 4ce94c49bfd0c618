import { createSeldom } from "./seldom.ts";

const isToTell = createSeldom();

/** Logs a fault of the worker for the operator, each kind once a minute. What failed becomes due again by itself. */
export function tellFault(what: string, error: unknown): void {
  const { code, message } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error) };
  // Messages of one kind may each name another file.
  const kind = `${what} ${code ?? message.replaceAll(/[\da-f-]{32,}/g, "")}`;
  if (isToTell(kind)) console.error(`worker: ${what}: ${message}`);
}
