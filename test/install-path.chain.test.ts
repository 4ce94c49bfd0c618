import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { startChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { closeAfterAll } from "./opened.ts";

const ROOT = join(import.meta.dirname, "..");

const { closing } = closeAfterAll();

test("it indexes wherever it is installed, whatever a URL would take the path for", async () => {
  const root = await mkdtemp(join(tmpdir(), "nft index %20 é# ?"));
  closing.push(() => rm(root, { recursive: true }));
  const isCopied = (path: string) => path === ROOT || !/^(\.|node_modules$)/.test(basename(path));
  await cp(ROOT, root, { recursive: true, filter: isCopied });
  await symlink(join(ROOT, "node_modules"), join(root, "node_modules"));
  const chain = await startChain();
  closing.push(chain.stop);
  // Some blocks of history, and some for Ponder.
  await chain.mineEmpty(80);
  const database = await createTestDatabase();
  closing.push(database.drop);
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl, root });
  closing.push(indexer.stop);
  expect((await indexer.waitUntilLive(await chain.head())).state).toBe("live");
});
