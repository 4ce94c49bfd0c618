import { chmod, mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startPostgres } from "../bin/postgres.ts";
import { ensureBundle } from "../indexer/ponder/bundle-builder.ts";
import { makeTemplates } from "./database.ts";

/** The file system in memory that Linux has. */
const MEMORY_DISK = "/dev/shm";
/** Four times what a run takes. */
const MEMORY_DISK_BYTES = 4 * 2 ** 30;

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
    postgresSocketUrl: string;
    /** Name of what `createTestDatabase` copies. */
    migratedDatabase: string;
    /** Name of what `createReadableDatabase` copies. */
    readableDatabase: string;
  }
}

/**
 * One Postgres for all test files; each file takes databases of its own from it. With TEST_DATABASE_URL it is that one,
 * of another version for example, reached by TCP as a superuser.
 */
export default async function setup(project: TestProject) {
  await using run = new AsyncDisposableStack();
  if (await hasRoom(MEMORY_DISK)) run.use(await keepIn(MEMORY_DISK));
  // Or each of the first indexers would make it, at the same time.
  await ensureBundle();
  const given = process.env["TEST_DATABASE_URL"];
  const server = given ? { url: given, socketUrl: given } : run.use(await startServer());
  const { migrated, readable } = await makeTemplates(server.url);
  for (const { drop } of [migrated, readable]) run.defer(drop);
  project.provide("postgresUrl", server.url);
  project.provide("postgresSocketUrl", server.socketUrl);
  project.provide("migratedDatabase", migrated.name);
  project.provide("readableDatabase", readable.name);
  const whole = run.move();
  return () => whole.disposeAsync();
}

async function hasRoom(directory: string): Promise<boolean> {
  const disk = await statfs(directory).catch(() => undefined);
  return disk !== undefined && disk.bavail * disk.bsize >= MEMORY_DISK_BYTES;
}

/**
 * Has this process, and those that run the tests, keep there what they keep for a while: each of hundreds of databases is
 * some hundred files.
 */
async function keepIn(disk: string): Promise<AsyncDisposable> {
  const directory = await mkdtemp(join(disk, "nft-index-test-"));
  // As of any folder for such files: Postgres has an account of its own.
  await chmod(directory, 0o1777);
  process.env["TMPDIR"] = directory;
  return { [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
}

async function startServer() {
  const directory = await mkdtemp(join(tmpdir(), "nft-index-postgres-"));
  const postgres = await startPostgres({ directory, isDurable: false });
  return {
    // By TCP: tests put other ports and what swallows packets before it.
    url: postgres.tcpUrlOf("postgres"),
    socketUrl: postgres.urlOf("postgres"),
    [Symbol.asyncDispose]: async () => {
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
