import type { Sql } from "postgres";
import { migrate } from "../offchain/migrate.ts";
import { type Config, ConfigError } from "../config.ts";
import { withConnection } from "../postgres/pool.ts";
import { findDatabase } from "./database.ts";
import { exitWith, stopSignal } from "./process.ts";

/**
 * Runs a command on the database that the configuration means (`findDatabase`). A failure is printed and makes exit code
 * 1: one line where it is the database's or what it prints is lost, the stack where it is a fault of ours. Told to end,
 * it stops a Postgres that it started.
 */
export async function runCommand(config: Config, command: (sql: Sql) => Promise<void>): Promise<void> {
  process.stdout.on("error", tellUnwritten);
  // With DATABASE_URL there is nothing to stop, and nothing to wait for.
  const signal = config.databaseUrl ? undefined : stopSignal();
  const database = await findDatabase(config).catch(exitWith);
  const run = async (sql: Sql) => {
    await migrate(sql);
    await command(sql);
  };
  try {
    await Promise.race([untilTold(signal), withConnection(database.url, run, { connect_timeout: 5 })]);
  } catch (error) {
    if (error instanceof ConfigError) console.error(error.message);
    else console.error(isOfDatabase(error) ? `The database can't be used: ${error.message || error.code}` : error);
    process.exitCode = 1;
  } finally {
    await database.close();
  }
  if (signal?.aborted) process.exit(130);
}

/** What a command prints is what it was asked for. A reader that has read enough, as `head`, is no failure. */
function tellUnwritten({ code, message }: NodeJS.ErrnoException): void {
  if (code === "EPIPE") return;
  console.error(`Standard output can't be written (${message}).`);
  process.exitCode = 1;
}

/** Settles when this process is told to end. */
function untilTold(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve();
    signal?.addEventListener("abort", () => resolve());
  });
}

/** SQLSTATEs, and what the driver and sockets call their failures. */
const isOfDatabase = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && "code" in error && typeof error.code === "string";
