import { encodeAbiParameters, getAbiItem, type Hex, toEventSelector, zeroAddress, zeroHash } from "viem";
import { test } from "vitest";
import { seaportAbi } from "../abis/seaport.ts";
import { startChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { readFreshRows } from "./fresh-index.ts";
import { startIndexer } from "./indexer.ts";
import { readAllRows } from "./onchain-tables.ts";
import { closeAfterAll } from "./opened.ts";
import { fulfilled } from "./order-fulfilled.ts";
import { startPostgresProxy } from "./postgres-proxy.ts";
import { type LogToWrite, singleLog, word } from "./raw-log.ts";
import { compile } from "./solidity.ts";

const { opened } = closeAfterAll();

/** A chain with a contract that writes any logs, of tokens and of an exchange, and its index. */
async function startWorld(databaseUrl: string) {
  const chain = opened(await startChain());
  const emitter = await chain.deploy(compile("Emitter").Emitter);
  const [holder] = chain.accounts as [Hex];
  /** Units move: a row is added, and another one counted up. */
  const mint = singleLog(zeroAddress, holder, 1n, 5n);
  /** A part of an order is filled: no row is added. */
  const fill = {
    topics: [toEventSelector(getAbiItem({ abi: seaportAbi, name: "OrderFulfilled" })), word(holder), word(zeroAddress)],
    data: encodeAbiParameters(fulfilled, [
      zeroHash,
      holder,
      [{ itemType: 3, token: emitter.address, identifier: 1n, amount: 2n }],
      [],
    ]),
  };
  const mine = (...logs: LogToWrite[]) => chain.mine({ to: emitter, name: "write", args: [logs] });
  await mine(mint, fill);
  await chain.mineEmpty(40);
  const followed = { rpcUrl: chain.rpcUrl, env: { SEAPORT_ADDRESSES: emitter.address } };
  const indexer = opened(startIndexer({ ...followed, databaseUrl }));
  await indexer.waitUntilLive(await chain.head());
  const readFresh = async () => readFreshRows({ ...followed, head: await chain.head() });
  return { chain, logs: { mint, fill }, mine, indexer, readFresh };
}

test.concurrent.for([
  ["before its commit gets there", [{ statement: "commit" }], "mint"],
  ["after its commit got there", [{ statement: "commit", isHandedOver: true }], "fill"],
  ["in a transaction within its own", [{ statement: "release savepoint sp1" }], "fill"],
  ["twice, the second time before it is open", [{ statement: "begin" }, {}], "mint"],
] as const)("a block counts once, and soon, where the connection is lost %s", async ([, cuts, kind], { expect }) => {
  const database = opened(await createTestDatabase());
  const proxy = opened(await startPostgresProxy(database.url));
  const { chain, logs, mine, indexer, readFresh } = await startWorld(proxy.url);
  const areCut = proxy.cutOff(...cuts);
  await mine(logs[kind]);
  await areCut;
  const cutAt = performance.now();
  await indexer.waitUntilLive(await chain.head());
  // Ponder tried for 64 s what couldn't succeed, or waited for ever.
  expect(performance.now() - cutAt).toBeLessThan(45_000);
  expect(await readAllRows(database.url)).toEqual(await readFresh());
});
