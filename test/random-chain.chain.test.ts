/**
 * A random chain of all that is indexed, exchanges too, through real Ponder. Wyvern isn't among them: what a sale there
 * was paid in, history also finds in other contracts' logs.
 */
import { encodeFunctionData, type Hex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { MULTICALL3_ADDRESS, multicall3Abi } from "../abis/multicall3.ts";
import { readConfig } from "../config.ts";
import type { ChainLog } from "../history/chain-log.ts";
import { listSources } from "../sources.ts";
import { MAINNET_FINALITY } from "./block-server.ts";
import { type Contract, startChain, type TestChain } from "./chain.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { putMulticall3 } from "./multicall3.ts";
import { readAllRows } from "./onchain-tables.ts";
import { closeAfterAll } from "./opened.ts";
import { randomChain } from "./random-chain.ts";
import { compile } from "./solidity.ts";

/** One of the random chain's contracts, which may also leave the token id alone unindexed. */
const DRAFT = `0x${"71".repeat(15)}0000000010`;
const env = { MAINNET_FIRST_GENERATION_CONTRACTS: DRAFT };
/** Blocks that lose, one reorg after the other. */
const DEPTHS = [1, 4, 8];
const TRANSACTIONS_PER_BLOCK = 3;

const { Emitter } = compile("Emitter");
const { opened } = closeAfterAll();

let chain: TestChain;
let transactions: ChainLog[][];

beforeAll(async () => {
  const config = readConfig({ MAINNET_RPC_URL: "http://localhost:1", ...env });
  const sources = listSources(config, { network: "mainnet", chainId: 1 }).filter(({ name }) => name !== "Wyvern");
  const logs = randomChain(1, { sources, logCount: 1_200 });
  transactions = [...Map.groupBy(logs, ({ transactionHash }) => transactionHash).values()];

  chain = opened(await startChain({ chainId: 1 }));
  const emitter = await chain.deploy(Emitter);
  const code = await chain.request<Hex>("eth_getCode", emitter.address, "latest");
  for (const address of new Set(logs.map((log) => log.address))) await chain.request("anvil_setCode", address, code);
  for (const sender of new Set(logs.map((log) => log.sender)))
    await chain.request("anvil_setBalance", sender, "0xde0b6b3a7640000");
  await putMulticall3(chain.rpcUrl);
});

/** Mines the next transactions of the random chain. */
async function mine(blocks: number): Promise<void> {
  const multicall: Contract = { address: MULTICALL3_ADDRESS, abi: multicall3Abi };
  for (let block = 0; block < blocks; block++)
    await chain.mine(
      ...transactions.splice(0, TRANSACTIONS_PER_BLOCK).map((logs) => ({
        to: multicall,
        name: "aggregate3",
        args: [logs.map(callOf)],
        from: logs[0]!.sender!,
      })),
    );
}

const callOf = ({ address: target, topics, data }: ChainLog) => ({
  target,
  allowFailure: false,
  callData: encodeFunctionData({ abi: Emitter.abi, functionName: "write", args: [[{ topics, data }]] }),
});

const createDatabase = async () => opened(await createTestDatabase());

/** Every row of a deployment, and the last block of its history. */
async function readDeployment({ url }: TestDatabase) {
  const rows = await readAllRows(url);
  return withConnection(url, async (sql) => {
    const [deployment] = await sql<{ schema_name: string; history_block: number }[]>`
      select
        schema_name,
        history_block::float8
      from offchain.deployment
    `;
    const steps = await sql<{ row: string }[]>`
      select t::text as row
      from ${sql(`${deployment!.schema_name}.sale_step`)} t
      order by 1
    `;
    return { historyBlock: deployment!.history_block, rows: { ...rows, sale_step: steps.map(({ row }) => row) } };
  });
}

test("what is followed through reorgs comes to the rows that history alone makes of the chain that won", async () => {
  await mine(8);
  await chain.mineEmpty(MAINNET_FINALITY - 4);
  const databases = [await createDatabase(), await createDatabase()] as const;
  const start = ({ url }: TestDatabase) => opened(startIndexer({ databaseUrl: url, rpcUrl: chain.rpcUrl, env }));
  const follower = start(databases[0]);
  await follower.waitUntilLive(await chain.head());
  for (const depth of DEPTHS) {
    const snapshot = await chain.request<Hex>("evm_snapshot");
    await mine(depth);
    await follower.waitUntilLive(await chain.head());
    await chain.request("evm_revert", snapshot);
    await mine(depth + 1);
    await follower.waitUntilLive(await chain.head());
  }
  const last = await chain.head();
  await chain.mineEmpty(MAINNET_FINALITY + 1);
  await follower.waitUntilLive(await chain.head());
  await follower.stop();
  const loader = start(databases[1]);
  await loader.waitUntilLive(await chain.head());
  await loader.stop();

  const [followed, loaded] = [await readDeployment(databases[0]), await readDeployment(databases[1])];
  expect(followed.rows).toEqual(loaded.rows);
  expect(followed.historyBlock).toBeGreaterThan(0);
  expect(followed.historyBlock).toBeLessThan(last - 10);
  expect(loaded.historyBlock).toBeGreaterThanOrEqual(last);
  expect(Object.entries(loaded.rows).filter(([, rows]) => rows.length === 0)).toEqual([]);
});
