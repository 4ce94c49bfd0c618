import type { Sql } from "postgres";
import { migrate } from "../offchain/migrate.ts";
import type { Config } from "../config.ts";
import { withConnection } from "../pool.ts";
import { findDatabase } from "./database.ts";
import { exitWith } from "./process.ts";

/** Runs a command on the database that the configuration means. What fails is told in one line, and makes code 1. */
export async function runCommand(config: Config, command: (sql: Sql) => Promise<void>): Promise<void> {
  const database = await findDatabase(config).catch(exitWith);
  const run = async (sql: Sql) => {
    await migrate(sql);
    await command(sql);
  };
  try {
    await withConnection(database.url, run, { connect_timeout: 5 });
  } catch (error) {
    console.error(
      `The database can't be used: ${error instanceof Error ? error.message || error.name : String(error)}`,
    );
    process.exitCode = 1;
  } finally {
    await database.close();
  }
}
