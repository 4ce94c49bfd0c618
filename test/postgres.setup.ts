import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startPostgres } from "../bin/postgres.ts";
import { ensureBundle } from "../indexer/bundle-builder.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
    postgresSocketUrl: string;
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
  if (given) {
    project.provide("postgresUrl", given);
    project.provide("postgresSocketUrl", given);
    return undefined;
  }
  const directory = await mkdtemp(join(tmpdir(), "nft-index-test-"));
  const postgres = await startPostgres({ directory, isDurable: false });
  // By TCP: tests put other ports and what swallows packets before it.
  project.provide("postgresUrl", postgres.tcpUrlOf("postgres"));
  project.provide("postgresSocketUrl", postgres.urlOf("postgres"));
  return async () => {
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  };
}
