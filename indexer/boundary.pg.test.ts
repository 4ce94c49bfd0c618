import { expect, test } from "vitest";
import { startBlockServer } from "../test/block-server.ts";
import { createReadableDatabase, useDatabase } from "../test/database.ts";
import { fixHistory } from "./boundary.ts";
import { ensureDeployment } from "./deployment.ts";
import { createRpcClient } from "./rpc/rpc-client.ts";

const HEAD = 500;

/** Of the chains that Ponder doesn't know. */
const FINALITY = 30;

const { sql } = await useDatabase(createReadableDatabase, { max: 2 });

type Options = { finalized: number; head?: number; endBlock?: number };

test.for<[string, Options, number]>([
  ["its own word", { finalized: 400 }, 400],
  ["depth, where it calls more final", { finalized: HEAD }, HEAD - FINALITY],
  ["depth, where it calls none final but the first", { finalized: 0 }, HEAD - FINALITY],
  ["the last block that is wanted", { finalized: 400, endBlock: 300 }, 300],
  ["the first block, where none is final", { finalized: 0, head: FINALITY }, 0],
])("history ends one below the last final block by %s", async ([, options, last]) => {
  const { finalized, endBlock, head = HEAD } = options;
  const node = await startBlockServer({ chainId: 196, blocks: [], head, finalized });
  const chain = { chainId: 196, genesisHash: "0x01" };
  const deployment = await ensureDeployment(sql, {
    network: "mainnet",
    chain,
    fingerprint: "aa",
    isNewGeneration: true,
  });
  const client = createRpcClient([node.url], chain);
  expect(await fixHistory(sql, deployment, { client, startBlock: 0, endBlock })).toMatchObject({
    history_block: last - 1,
  });
  await node.stop();
});
