import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startPostgres } from "../bin/postgres.ts";
import { ensureBundle } from "../indexer/ponder/bundle-builder.ts";
import { makeMigratedDatabase } from "./database.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
    postgresSocketUrl: string;
    /** Name of what `createMigratedDatabase` copies. */
    migratedDatabase: string;
  }
}

/**
 * One Postgres for all test files; each file takes databases of its own from it. With TEST_DATABASE_URL it is that one,
 * of another version for example, reached by TCP as a superuser.
 */
export default async function setup(project: TestProject) {
  // Or each of the first indexers would make it, at the same time.
  await ensureBundle();
  const given = process.env["TEST_DATABASE_URL"];
  const server = given ? { url: given, socketUrl: given, stop: async () => {} } : await startServer();
  const migrated = await makeMigratedDatabase(server.url);
  project.provide("postgresUrl", server.url);
  project.provide("postgresSocketUrl", server.socketUrl);
  project.provide("migratedDatabase", migrated.name);
  return async () => {
    await migrated.drop();
    await server.stop();
  };
}

async function startServer() {
  const directory = await mkdtemp(join(tmpdir(), "nft-index-test-"));
  const postgres = await startPostgres({ directory, isDurable: false });
  return {
    // By TCP: tests put other ports and what swallows packets before it.
    url: postgres.tcpUrlOf("postgres"),
    socketUrl: postgres.urlOf("postgres"),
    stop: async () => {
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
