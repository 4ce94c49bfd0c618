import { isLogged, type LogLevel } from "../config.ts";

/** Writes one JSON object a line. Never give it headers: they hold keys. */
export type Log = (level: Exclude<LogLevel, "silent">, message: string, fields?: Record<string, unknown>) => void;

/** Lines wait this long, so that a busy process writes once for many requests. */
const FLUSH_MS = 100;

/** A log on stdout. Lines that still wait are written when the process ends. */
export function createLog({ level }: { level: LogLevel }): Log {
  let lines = "";
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (lines !== "") process.stdout.write(lines);
    lines = "";
  };
  process.once("exit", flush);
  return (lineLevel, message, fields) => {
    if (!isLogged(lineLevel, level)) return;
    lines += `${JSON.stringify({ time: new Date().toISOString(), level: lineLevel, message, ...fields })}\n`;
    if (isLogged("debug", level) || lineLevel === "fatal" || lineLevel === "error") flush();
    else timer ??= setTimeout(flush, FLUSH_MS);
  };
}

/** Fields that describe an error in a log: its message, causes and stack, without the query's parameters. */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: String(error) };
  const code = "code" in error ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  return { error: error.message, ...code, stack: error.stack, ...cause };
}
