/** Tokens of early 2018, whose Transfer is an ERC-20 one to the letter: in contracts that are named, and nowhere else. */
import { type Hex, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Contract, startChain, type TestChain } from "./chain.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { FINALITY } from "./finality.ts";
import { type Indexer, startIndexer } from "./indexer.ts";
import { readAllRows, readTables } from "./onchain-tables.ts";
import { logOf, transferLog, words } from "./raw-log.ts";
import { compile } from "./solidity.ts";

const MAX = 2n ** 256n - 1n;

let chain: TestChain;
let watched: TestDatabase;
let late: TestDatabase;
let draft: Contract;
let unnamed: Contract;
let emitter: Contract;
const indexers: Indexer[] = [];

function start(databaseUrl: string): Indexer {
  const env = { MAINNET_FIRST_GENERATION_CONTRACTS: `${draft.address},${emitter.address}` };
  const indexer = startIndexer({ databaseUrl, rpcUrl: chain.rpcUrl, env });
  indexers.push(indexer);
  return indexer;
}

async function play(first: bigint): Promise<void> {
  const [anne, ben, cleo] = chain.accounts as [Hex, Hex, Hex];
  const both = (name: string, args: unknown[], from?: Hex) =>
    [draft, unnamed].map((to) => ({ to, name, args, ...(from && { from }) }));
  await chain.mine(
    ...both("mint", [anne, first]),
    ...both("mint", [ben, first + 1n]),
    ...both("transfer", [cleo, first]),
    ...both("transfer", [cleo, first + 1n], ben),
    ...both("transfer", [zeroAddress, first + 1n], cleo),
  );
  const transfer = (indexed: (bigint | Hex)[], data: Hex) => logOf("Transfer(address,address,uint256)", indexed, data);
  await chain.mine({
    to: emitter,
    name: "write",
    args: [
      [
        // A whole one with data behind it is that one and no other.
        transferLog(zeroAddress, anne, first, words(9n)),
        transfer([], words(anne, ben, first)),
        transfer([ben, cleo], words(first, 1n)),
        // And these are none.
        transfer([ben, anne], "0x"),
        transfer([ben], words(anne, first)),
        transfer([ben], words(anne, ben, first)),
      ],
    ],
  });
}

beforeAll(async () => {
  [chain, watched, late] = await Promise.all([startChain(), createTestDatabase(), createTestDatabase()]);
  const { Draft, Emitter } = compile("Draft", "Emitter");
  [draft, unnamed, emitter] = [await chain.deploy(Draft), await chain.deploy(Draft), await chain.deploy(Emitter)];
  await play(1n);
  await chain.mineEmpty(FINALITY + 5);
  const first = start(watched.url);
  await first.waitUntilLive(await chain.head());
  await play(MAX - 1n);
  await first.waitUntilLive(await chain.head());
  await chain.mineEmpty(FINALITY + 5);
  await start(late.url).waitUntilLive(await chain.head());
});

afterAll(async () => {
  await Promise.all(indexers.map((indexer) => indexer.stop()));
  await Promise.all([chain?.stop(), watched?.drop(), late?.drop()]);
});

test("are whose the contract says", async () => {
  const { tokens, contracts } = await readTables(late.url);
  const named = tokens.filter(({ contract_address }) => contract_address === draft.address);
  expect(named.map(({ token_id }) => token_id)).toEqual([1n, 2n, MAX - 1n, MAX]);
  for (const { token_id, owner } of named) {
    const word = await chain.read<Hex>(draft, "ownerOf", token_id);
    expect(owner).toBe(`0x${word!.slice(-40)}`);
  }
  expect(contracts.map(({ contract_address, is_first_generation }) => [contract_address, is_first_generation])).toEqual(
    [
      [draft.address, true],
      [emitter.address, false],
    ],
  );
});

test("a Transfer is read by the number of its topics, whatever data it has", async () => {
  const [anne, ben, cleo] = chain.accounts as [Hex, Hex, Hex];
  const { events } = await readTables(late.url);
  const written = events.filter(({ contract_address }) => contract_address === emitter.address);
  expect(written.map(({ token_id, from_address, to_address }) => [token_id, from_address, to_address])).toEqual(
    [1n, MAX - 1n].flatMap((id) => [
      [id, zeroAddress, anne],
      [id, anne, ben],
      [id, ben, cleo],
    ]),
  );
});

test("are the same row for row when half of them was indexed live", async () => {
  expect(await readAllRows(watched.url)).toEqual(await readAllRows(late.url));
});
