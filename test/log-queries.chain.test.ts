import { expect, test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { startChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { FINALITY } from "./finality.ts";
import { startIndexer } from "./indexer.ts";
import { closeAfterAll } from "./opened.ts";
import { startRpcProxy } from "./rpc-proxy.ts";

const { opened } = closeAfterAll();

test("what became final while nobody followed the chain is asked for with few queries, however many the exchanges", async () => {
  const chain = opened(await startChain());
  const proxy = opened(await startRpcProxy(chain.rpcUrl));
  const database = opened(await createTestDatabase());
  const index = async () => {
    const indexer = opened(startIndexer({ databaseUrl: database.url, rpcUrl: proxy.url }));
    await indexer.waitUntilLive(await chain.head());
    await indexer.stop();
  };
  await chain.mineEmpty(FINALITY + 5);
  await index();
  await chain.mineEmpty(FINALITY + 100);
  proxy.resetCounts();
  await index();
  const { history_block } = await withConnection(database.url, async (sql) => {
    const [row] = await sql<{ history_block: number }[]>`select history_block::float8 from offchain.deployment`;
    return row!;
  });
  const asked = proxy
    .logFilters()
    .filter(({ fromBlock, address }) => Number(fromBlock) > history_block && address !== undefined);
  const addresses = new Set(asked.flatMap(({ address }) => address));
  expect(addresses.size).toBeGreaterThan(20);
  // Of 20 contracts each.
  const ofRanges = [...Map.groupBy(asked, ({ fromBlock }) => fromBlock).values()];
  expect(ofRanges.length).toBeGreaterThan(1);
  for (const queries of ofRanges) expect(queries).toHaveLength(Math.ceil(addresses.size / 20));
});
