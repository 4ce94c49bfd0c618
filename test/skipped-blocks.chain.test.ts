import type { Hex } from "viem";
import { expect, test } from "vitest";
import { startChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { readFreshRows } from "./fresh-index.ts";
import { startIndexer } from "./indexer.ts";
import { readAllRows, readTables } from "./onchain-tables.ts";
import { closeAfterAll } from "./opened.ts";
import { shownNumber, startSkippingNode } from "./skipping-node.ts";
import { compile } from "./solidity.ts";

const { closing, opened } = closeAfterAll();

test("a chain that skips numbers is followed, through a reorg too", async () => {
  const chain = opened(await startChain());
  const node = opened(await startSkippingNode(chain.rpcUrl));
  const deed = await chain.deploy(compile("Deed").Deed);
  let id = 0;
  const mint = async (count: number) => {
    for (let minted = 0; minted < count; minted++)
      await chain.mine({ to: deed, name: "mint", args: [chain.accounts[0], ++id] });
  };
  const head = async () => shownNumber(await chain.head());
  const database = await createTestDatabase();
  closing.push(database.drop);

  await mint(40);
  const indexer = opened(startIndexer({ databaseUrl: database.url, rpcUrl: node.url }));
  await indexer.waitUntilLive(await head());
  // One by one: what is behind a number that is skipped, and in front of one.
  for (let block = 0; block < 5; block++) {
    await mint(1);
    await indexer.waitUntilLive(await head());
  }
  const snapshot = await chain.request<Hex>("evm_snapshot");
  await mint(4);
  await indexer.waitUntilLive(await head());
  await chain.request("evm_revert", snapshot);
  await mint(5);
  // So many that others are final.
  await chain.mineEmpty(70);
  await mint(1);
  await indexer.waitUntilLive(await head());

  const rows = await readAllRows(database.url);
  expect(rows).toEqual(await readFreshRows({ rpcUrl: node.url, head: await head() }));
  const { tokens } = await readTables(database.url);
  expect(tokens).toHaveLength(40 + 5 + 5 + 1);
});
