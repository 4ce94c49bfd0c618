import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startPostgres } from "../bin/postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
    postgresSocketUrl: string;
  }
}

/** One Postgres for all test files; each file takes databases of its own from it. */
export default async function setup(project: TestProject) {
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
