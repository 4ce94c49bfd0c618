/** Blocks of as many logs as their gas has room for. */
import { type Hex, keccak256, toHex } from "viem";
import { expect, test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { type BareLog, blocksOf, MAINNET_FINALITY, startBlockServer } from "./block-server.ts";
import { createTestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { logOf } from "./raw-log.ts";

const CONTRACT: Hex = `0x${"c0".repeat(20)}`;
/** Of 750 gas each: 36 million. */
const LOGS = 48_000;
const FIRST = 12;
const BLOCKS = 8;
const LAST = FIRST + BLOCKS - 1;

test("a row of blocks full of logs is followed, and kept once it is final", async () => {
  const update = logOf("ContractURIUpdated()", []);
  const logs = Array.from({ length: BLOCKS * LOGS }, (_, index): BareLog => {
    const blockNumber = FIRST + Math.floor(index / LOGS);
    return {
      ...update,
      address: CONTRACT,
      blockNumber,
      logIndex: index % LOGS,
      transactionHash: keccak256(toHex(blockNumber)),
      timestamp: 1_600_000_000 + blockNumber,
    };
  });
  const database = await createTestDatabase();
  const server = await startBlockServer({ chainId: 1, blocks: blocksOf(logs), head: FIRST - 2, finalized: 5 });
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: server.url });
  try {
    await indexer.waitUntilLive(FIRST - 2);
    server.setHead(LAST);
    await indexer.waitUntilLive(LAST);
    server.setHead(LAST + 2 * MAINNET_FINALITY);
    await indexer.waitUntilLive(LAST + 2 * MAINNET_FINALITY);
    await withConnection(database.url, async (sql) => {
      const count = async (table: string) =>
        (await sql`select count(*)::int as count from ${sql(table)}`)[0]?.["count"];
      expect(await count("onchain_mainnet.metadata_update")).toBe(BLOCKS * LOGS);
      await expect.poll(() => count("ponder_sync.logs")).toBe(BLOCKS * LOGS);
    });
    expect(indexer.output()).not.toContain("out of memory");
  } finally {
    await indexer.stop();
    await server.stop();
    await database.drop();
  }
});
