import type { ZodType } from "zod";
import { ConfigError } from "../config.ts";

/** Ends the process with code 0 and what it takes, where its arguments ask for that. */
export function exitWithHelp(usage: string): void {
  if (!process.argv.slice(2).some((argument) => argument === "--help" || argument === "-h")) return;
  console.log(usage);
  process.exit(0);
}

/** Ends a part that was given arguments, which would be settings that nobody reads. */
export function takeNoArguments(): void {
  exitWithHelp("Expected no arguments: what can be set is in the environment, as the README says.");
  const [argument] = process.argv.slice(2);
  if (argument !== undefined)
    exit(`Argument "${argument}" is unknown. Expected none: what is set is in the environment.`);
}

/** Keeps a process alive whose output nobody reads any more, as behind `| grep -m1`: its next line would end it. */
export function outliveReader(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}

/** One request to end may come as two signals: to the process group, and once more through npm or `timeout`. */
const SAME_REQUEST_MS = 1_000;

/**
 * Aborts on SIGINT, SIGTERM and SIGHUP, and when whoever forked this process is gone. A second signal ends the process
 * at once, without stopping anything in order: a Postgres is left running.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  let askedAt = Infinity;
  const stop = () => {
    if (performance.now() - askedAt > SAME_REQUEST_MS) process.exit(130);
    askedAt = Math.min(askedAt, performance.now());
    controller.abort();
  };
  process.on("SIGINT", stop).on("SIGTERM", stop).on("SIGHUP", stop);
  process.once("disconnect", () => controller.abort());
  process.channel?.unref();
  return controller.signal;
}

/** How long a part may take to end. Its parts have limits of their own; a database or a node that hangs has none. */
const END_WITHIN_MS = 10_000;

/** Ends the process so long after the signal, whatever it still waits for: else who told it to end would have to kill it. */
export function endInTime(signal: AbortSignal): void {
  const end = () => exit("What is under way is given up: it isn't answered. Started again, all goes on where it was.");
  signal.addEventListener("abort", () => void setTimeout(end, END_WITHIN_MS).unref());
}

/** What the indexer ends with where another version took over: no fault, and nothing to start again by itself. */
export const SUPERSEDED_CODE = 20;

/** Ends the process with code 1 and a line for the operator. */
export function exit(message: string): never {
  console.error(message);
  process.exit(1);
}

/** What the schema makes of an argument. Ends the process with code 1 and the schema's own line where it refuses it. */
export function parseOrExit<T>(schema: ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed.data : exit(parsed.error.issues[0]!.message);
}

/** What Postgres and its driver call a connection that is lost. */
const LOST = /^(CONNECTION_|CONNECT_TIMEOUT$|ECONNRESET$|ECONNREFUSED$|EPIPE$|57P0[123]$|08)/;

/** Ends the process with code 1: one line for what the operator can mend, the whole error for a fault of ours. */
export function exitWith(error: unknown): never {
  const { code, message } = error as Error & { code?: unknown };
  const isLost = typeof code === "string" && LOST.test(code);
  if (isLost) console.error(`The database was lost (${message}). Started again, all goes on where it was.`);
  else console.error(error instanceof ConfigError ? message : error);
  process.exit(1);
}
