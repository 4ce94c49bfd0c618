import { type Hex, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NetworkReport } from "../offchain/network.ts";
import { type Contract, startChain, type TestChain } from "./chain.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { FINALITY } from "./finality.ts";
import { type Indexer, startIndexer } from "./indexer.ts";
import { computeExpected } from "./log-oracle.ts";
import { type OnchainTables, readAllRows, readTables } from "./onchain-tables.ts";
import { deployMarkets, MAX, playScenario, type Scenario, SCENARIO_CONTRACTS } from "./scenario.ts";
import { compile } from "./solidity.ts";

/**
 * The scenario is played twice, each time on contracts of its own: first as history, then under the eyes of the running
 * indexer. Another indexer then finds all of it as history.
 */
let chain: TestChain;
let watched: TestDatabase;
let late: TestDatabase;
const indexers: Indexer[] = [];
const scenarios: Scenario[] = [];
let tables: OnchainTables;
let expected: OnchainTables;
let status: NetworkReport;

beforeAll(async () => {
  [chain, watched, late] = await Promise.all([startChain(), createTestDatabase(), createTestDatabase()]);
  const artifacts = compile(...SCENARIO_CONTRACTS);
  const markets = [await deployMarkets(chain, artifacts), await deployMarkets(chain, artifacts)];
  const addresses = markets.flatMap(({ market, firstMarket }) => [market.address, firstMarket.address]);
  const start = (databaseUrl: string) => {
    const env = { CRYPTOPUNKS_ADDRESSES: addresses.join(",") };
    const indexer = startIndexer({ databaseUrl, rpcUrl: chain.rpcUrl, env });
    indexers.push(indexer);
    return indexer;
  };

  scenarios.push(await playScenario(chain, artifacts, markets[0]!));
  await chain.mineEmpty(FINALITY + 5);
  const first = start(watched.url);
  await first.waitUntilLive(await chain.head());
  scenarios.push(await playScenario(chain, artifacts, markets[1]!));
  await first.waitUntilLive(await chain.head());
  await chain.mineEmpty(FINALITY + 5);
  const second = start(late.url);
  await second.waitUntilLive(await chain.head());

  expected = await computeExpected(chain, { punkMarkets: addresses });
  // Skipped logs are counted every ten seconds.
  status = await second.waitUntil(({ skipped_logs }) => skipped_logs === expected.skipped.length);
  tables = await readTables(late.url);
});

afterAll(async () => {
  await Promise.all(indexers.map((indexer) => indexer.stop()));
  await Promise.all([chain?.stop(), watched?.drop(), late?.drop()]);
});

describe("all tables equal what the raw logs say", () => {
  test("contracts", () => expect(tables.contracts).toEqual(expected.contracts));
  test("events", () => expect(tables.events).toEqual(expected.events));
  test("tokens", () => expect(tables.tokens).toEqual(expected.tokens));
  test("ownerships", () => expect(tables.ownerships).toEqual(expected.ownerships));
  test("logs left out", () => expect(tables.skipped).toEqual(expected.skipped));
  test("metadata updates", () => expect(tables.updates).toEqual(expected.updates));

  test("and were the same row for row when half of it was indexed live", async () => {
    expect(await readAllRows(watched.url)).toEqual(await readAllRows(late.url));
  });
});

describe("the chain itself agrees", () => {
  const tokensOf = ({ address }: Contract) => tables.tokens.filter((row) => row.contract_address === address);

  test("with ownerOf of every token that has one owner", async () => {
    for (const { deed, parade, kitten, hybrid } of scenarios) {
      for (const contract of [deed, parade, kitten, hybrid]) {
        const rows = tokensOf(contract);
        expect(rows.length).toBeGreaterThan(0);
        for (const { token_id, owner } of rows)
          expect([token_id, owner]).toEqual([token_id, await ownerOf(contract, token_id)]);
      }
    }
  });

  test("with the owners that both CryptoPunks markets keep", async () => {
    for (const { market, firstMarket } of scenarios) {
      for (const contract of [market, firstMarket]) {
        const rows = tokensOf(contract);
        expect(rows.map(({ token_id }) => token_id)).toEqual([0n, 1n, 2n, 3n]);
        for (const { token_id, owner } of rows)
          expect(owner).toBe(addressOf(await chain.read(contract, "punkIndexToAddress", token_id)));
      }
    }
  });

  test("with balanceOf of every account and ERC-1155 token", async () => {
    for (const { edition } of scenarios) {
      const held = new Map(
        tables.ownerships
          .filter(({ contract_address }) => contract_address === edition.address)
          .map(({ token_id, owner, balance }) => [`${token_id} ${owner}`, balance]),
      );
      expect(tokensOf(edition).map(({ token_id }) => token_id)).toEqual([1n, 2n, 3n, 9n, MAX]);
      for (const { token_id } of tokensOf(edition)) {
        for (const account of chain.accounts) {
          const balance = await chain.read<Hex>(edition, "balanceOf", account, token_id);
          expect([token_id, account, held.get(`${token_id} ${account}`) ?? 0n]).toEqual([
            token_id,
            account,
            BigInt(balance!),
          ]);
        }
      }
    }
  });

  test("with balanceOf of every ERC-721 holder", async () => {
    for (const { deed, parade } of scenarios) {
      for (const contract of [deed, parade]) {
        for (const account of chain.accounts) {
          const held = tokensOf(contract).filter(({ owner }) => owner === account).length;
          expect(held).toBe(Number(await chain.read<Hex>(contract, "balanceOf", account)));
        }
      }
    }
  });

  async function ownerOf(contract: Contract, tokenId: bigint): Promise<Hex> {
    return addressOf(await chain.read<Hex>(contract, "ownerOf", tokenId));
  }

  /** A token that is burned has no owner: the call reverts. */
  function addressOf(word: Hex | undefined): Hex {
    return word ? `0x${word.slice(-40)}` : zeroAddress;
  }
});

describe("case by case", () => {
  test("contracts have the standard of their first event", () => {
    for (const scenario of scenarios) {
      const typeOf = ({ address }: Contract) =>
        tables.contracts.find(({ contract_address }) => contract_address === address)?.contract_type;
      expect(typeOf(scenario.deed)).toBe("ERC721");
      expect(typeOf(scenario.parade)).toBe("ERC721");
      expect(typeOf(scenario.kitten)).toBe("ERC721");
      expect(typeOf(scenario.hybrid)).toBe("ERC721");
      expect(typeOf(scenario.edition)).toBe("ERC1155");
      expect(typeOf(scenario.market)).toBe("CRYPTOPUNKS");
      expect(typeOf(scenario.firstMarket)).toBe("CRYPTOPUNKS");
    }
  });

  test("an ERC-20 token never appears", () => {
    for (const { coin } of scenarios) {
      const rows = [...tables.contracts, ...tables.events, ...tables.tokens, ...tables.skipped];
      expect(rows.filter(({ contract_address }) => contract_address === coin.address)).toEqual([]);
    }
  });

  test("only contracts of the first generation are marked as such", () => {
    const marked = tables.contracts.filter(({ is_first_generation }) => is_first_generation);
    expect(marked.map(({ contract_address }) => contract_address)).toEqual(
      scenarios.map(({ kitten }) => kitten.address),
    );
  });

  test("a range minted in a constructor is an event for each of its tokens", () => {
    const [, ben, cleo] = chain.accounts;
    for (const { parade } of scenarios) {
      const events = tables.events.filter(({ contract_address }) => contract_address === parade.address);
      const range = events.filter(
        ({ log_index, block_number }) => log_index === 0 && block_number === events[0]!.block_number,
      );
      expect(range.map(({ batch_index }) => batch_index)).toEqual(Array.from({ length: 50 }, (_, index) => index));
      expect(
        events.slice(50).map(({ event_type, token_id, to_address }) => [event_type, token_id, to_address]),
      ).toEqual([
        ["transfer", 0n, ben],
        ["transfer", 25n, ben],
        ["transfer", 49n, cleo],
        ["burn", 25n, zeroAddress],
        ["burn", 10n, zeroAddress],
        ["mint", 50n, cleo],
        ["mint", 51n, cleo],
        ["mint", 52n, cleo],
        ["transfer", 0n, chain.accounts[0]],
        ["burn", 51n, zeroAddress],
      ]);
    }
  });

  test("an accepted bid goes to the bidder, and comes from the seller in both markets", () => {
    const [anne, ben, cleo, dora] = chain.accounts;
    for (const contract of scenarios.flatMap(({ market, firstMarket }) => [market, firstMarket])) {
      const moves = tables.events
        .filter(
          ({ contract_address, event_type }) => contract_address === contract.address && event_type === "transfer",
        )
        .map(({ token_id, from_address, to_address }) => [token_id, from_address, to_address]);
      expect(moves).toEqual([
        [1n, anne, ben],
        [0n, anne, cleo],
        [3n, anne, dora],
        [2n, anne, dora],
        [3n, dora, anne],
        [1n, ben, cleo],
        [2n, dora, anne],
        [2n, anne, ben],
      ]);
    }
  });

  test("what is left out says why, and is counted", () => {
    const reasons = [
      "other standard",
      "other standard",
      "range too large",
      "range reversed",
      "range too large",
      "batch arrays differ in length",
      "batch arrays differ in length",
      "other standard",
      "other standard",
      "other standard",
      "other standard",
      "batch too large",
    ];
    expect(tables.skipped.map(({ reason }) => reason)).toEqual([...reasons, ...reasons]);
    expect(status).toMatchObject({ state: "live", reason: null, skipped_logs: 2 * reasons.length, progress: 1 });
  });

  test("ten thousand tokens in one log are ten thousand events, one more is none", () => {
    for (const { emitter } of scenarios) {
      const count = (first: bigint) =>
        tables.events.filter(
          ({ contract_address, token_id }) =>
            contract_address === emitter.address && token_id >= first && token_id < first + 10_001n,
        ).length;
      expect(count(100_000n)).toBe(10_000);
      expect(count(200_000n)).toBe(0);
    }
  });
});
