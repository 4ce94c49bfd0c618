import { encodeAbiParameters, getAbiItem, type Hex, toEventSelector, zeroAddress } from "viem";
import { test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { cryptopunksAbi } from "../abis/cryptopunks.ts";
import { type Call, startChain } from "./chain.ts";
import { createTestDatabase } from "./database.ts";
import { readFreshRows } from "./fresh-index.ts";
import { startIndexer } from "./indexer.ts";
import { readAllRows } from "./onchain-tables.ts";
import { closeAfterAll } from "./opened.ts";
import { consecutiveLog, type LogToWrite, singleLog, word } from "./raw-log.ts";
import { compile } from "./solidity.ts";

/*
 * Ponder guesses which rows the next events will ask for: by what the keys of rows had in common with the arguments of the
 * events before. It looks at the first of ten events after its start. Guesses that can't be asked for stopped it.
 */

const { opened } = closeAfterAll();

/** A contract that writes any logs, and an index that saw one transaction of it, then others while it catches up. */
async function startWorld(first: LogToWrite[], ...others: LogToWrite[][]) {
  const chain = opened(await startChain());
  await chain.request("evm_setBlockGasLimit", "0x20000000");
  const emitter = await chain.deploy(compile("Emitter").Emitter);
  const call = (logs: LogToWrite[]): Call => ({ to: emitter, name: "write", args: [logs] });
  const database = opened(await createTestDatabase());
  const followed = { rpcUrl: chain.rpcUrl, env: { CRYPTOPUNKS_ADDRESSES: emitter.address, LOG_LEVEL: "debug" } };
  const start = () => opened(startIndexer({ ...followed, databaseUrl: database.url }));
  await chain.mine(call(first));
  await chain.mineEmpty(40);
  const before = start();
  await before.waitUntilLive(await chain.head());
  await before.stop();
  for (const logs of others) await chain.mine(call(logs));
  await chain.mineEmpty(40);
  const indexer = start();
  await indexer.waitUntilLive(await chain.head());
  return {
    mine: (...transactions: LogToWrite[][]) => chain.mine(...transactions.map(call)),
    databaseUrl: database.url,
    /** What it has printed once all is indexed. */
    untilIndexed: async () => {
      await indexer.waitUntilLive(await chain.head());
      return indexer.output();
    },
    readFresh: async () => readFreshRows({ ...followed, head: await chain.head() }),
  };
}

const COMPLAINT = /Failed |Starts again/;

const ANNE: Hex = `0x${"a1".repeat(20)}`;
const BEN: Hex = `0x${"b2".repeat(20)}`;

test.concurrent("a guess of a number that the key can't be is none", async ({ expect }) => {
  const sold = (index: bigint): LogToWrite => ({
    topics: [
      toEventSelector(getAbiItem({ abi: cryptopunksAbi, name: "PunkBought" })),
      word(index),
      word(ANNE),
      word(BEN),
    ],
    data: encodeAbiParameters([{ type: "uint256" }], [7n]),
  });
  // The second sale of a transaction, its step 1, is of the token 1.
  const world = await startWorld([sold(5n)], [sold(9n), sold(1n)]);
  await world.mine([sold(2n ** 255n)]);
  expect(await world.untilIndexed()).not.toMatch(COMPLAINT);
  expect(await readAllRows(world.databaseUrl)).toEqual(await world.readFresh());
});

test.concurrent("guesses of more rows than a query takes arguments are read all the same", async ({ expect }) => {
  const unit = (operator: Hex, from: Hex, to: Hex, id: bigint): LogToWrite => {
    const log = singleLog(from, to, id, 1n);
    return { ...log, topics: log.topics.with(1, word(operator)) };
  };
  // Of the second and the twelfth event the accounts are those of a balance.
  const world = await startWorld(
    [unit(ANNE, zeroAddress, ANNE, 7n)],
    [unit(ANNE, zeroAddress, ANNE, 500n), unit(ANNE, ANNE, BEN, 500n)],
    [
      ...Array.from({ length: 9 }, (_, n) => unit(ANNE, zeroAddress, BEN, 600n + BigInt(n))),
      unit(ANNE, BEN, ANNE, 500n),
    ],
  );
  const account = (number: number) => word(BigInt(number)).replace(/^0x0{24}/, "0x") as Hex;
  const many = Array.from({ length: 7400 }, (_, n) =>
    unit(account(3 * n + 1000), account(3 * n + 1001), account(3 * n + 1002), BigInt(n) + 1000n),
  );
  await world.mine(...Array.from({ length: 37 }, (_, n) => many.slice(200 * n, 200 * (n + 1))));
  expect(await world.untilIndexed()).not.toMatch(COMPLAINT);
  const [found] = await withConnection(
    world.databaseUrl,
    (sql) => sql`select count(*)::int as holders from onchain_mainnet.ownership where balance = 1`,
  );
  // One for each of these, nine of before, and who has got the one unit of a token that moved on.
  expect(found).toEqual({ holders: 7400 + 9 + 2 });
});

test.concurrent("ranges of any number of tokens in one block are followed", async ({ expect }) => {
  const range = (from: Hex, to: Hex, number: number) =>
    consecutiveLog(from, to, BigInt(number) * 10_000n, BigInt(number) * 10_000n + 9_999n);
  const world = await startWorld([range(zeroAddress, ANNE, 0)], [range(ANNE, BEN, 0)]);
  // More than Ponder keeps in memory before it writes.
  await world.mine(Array.from({ length: 3 }, (_, number) => range(zeroAddress, ANNE, number)));
  await world.mine([range(ANNE, BEN, 1)], [range(BEN, ANNE, 1), range(ANNE, BEN, 2)]);
  expect(await world.untilIndexed()).not.toMatch(COMPLAINT);
  const held = await withConnection(
    world.databaseUrl,
    (sql) => sql`
      select
        encode(owner, 'hex') as owner,
        div(token_id, 10000)::int as number,
        count(*)::int as tokens
      from onchain_mainnet.token
      group by 1, 2
      order by 2
    `,
  );
  const owners = [ANNE, ANNE, BEN];
  expect([...held]).toEqual(owners.map((owner, number) => ({ owner: owner.slice(2), number, tokens: 10_000 })));
});
