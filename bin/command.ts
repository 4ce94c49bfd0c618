import type { Sql } from "postgres";
import { migrate } from "../offchain/migrate.ts";
import { type Config, ConfigError } from "../config.ts";
import { withConnection } from "../postgres/pool.ts";
import { findDatabase } from "./database.ts";
import { exitWith } from "./process.ts";

/**
 * Runs a command on the database that the configuration means (`findDatabase`). A failure is printed and makes exit code
 * 1: one line where it is the database's, the stack where it is a fault of ours.
 */
export async function runCommand(config: Config, command: (sql: Sql) => Promise<void>): Promise<void> {
  const database = await findDatabase(config).catch(exitWith);
  const run = async (sql: Sql) => {
    await migrate(sql);
    await command(sql);
  };
  try {
    await withConnection(database.url, run, { connect_timeout: 5 });
  } catch (error) {
    if (error instanceof ConfigError) console.error(error.message);
    else console.error(isOfDatabase(error) ? `The database can't be used: ${error.message || error.code}` : error);
    process.exitCode = 1;
  } finally {
    await database.close();
  }
}

/** SQLSTATEs, and what the driver and sockets call their failures. */
const isOfDatabase = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && "code" in error && typeof error.code === "string";
