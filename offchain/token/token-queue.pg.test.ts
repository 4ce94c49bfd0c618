import type { Sql, TransactionSql } from "postgres";
import type { Hex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { toBytes } from "../bytea.ts";
import { createPool } from "../../postgres/pool.ts";
import { countWaiting, createReadableDatabase, createOnchainTables, useDatabase } from "../../test/database.ts";
import { countRowsRead } from "../../test/explain.ts";
import { address, CHAIN_ID, indexedTo, mint } from "../../test/tokens.ts";
import { enqueueContracts } from "../contract/contract-watermark.ts";
import { claimTokens, type ClaimedToken, releaseClaims, renewClaims } from "./token-queue.ts";
import { toStoredDocument } from "../document/stored-document.ts";
import { storeTokens } from "./token-store.ts";
import { type ContractPlace, requestRange, walkRanges } from "./token-range.ts";
import { dropTokens } from "./dropped-token.ts";
import { readMetadataStatus } from "./metadata-status.ts";
import { enqueueUpdates } from "./token-update.ts";
import { enqueueTokens } from "./token-watermark.ts";
import { settleTokens } from "./unsettled-token.ts";
import { emptyNormalized } from "../document/normalize.ts";
import { type Failure, failure } from "../fetch/failure.ts";

const { database, sql } = await useDatabase(createReadableDatabase, { max: 8 });

beforeEach(async () => {
  await sql`
    truncate
      onchain_mainnet.contract, onchain_mainnet.token, onchain_mainnet.token_event, onchain_mainnet.metadata_update,
      offchain.token_metadata, offchain.contract_metadata, offchain.token_watermark, offchain.contract_watermark,
      offchain.metadata_count, offchain.metadata_failure, offchain.token_range, offchain.handled_update,
      offchain.unsettled_token, offchain.dropped_token, offchain.deployment
  `;
});

const claim = (ready: number, due = 0) => claimTokens(sql, { network: "mainnet", chainId: CHAIN_ID, ready, due });
const idsOf = (tokens: ClaimedToken[]) => tokens.map(({ token_id }) => Number(token_id)).toSorted((a, b) => a - b);

/** Looks for new tokens a minute later, when blocks of before are looked at again. */
async function recheck(block: number) {
  await sql`update offchain.token_watermark set rechecked_at = now() - interval '61 seconds'`;
  return enqueueTokens(sql, indexedTo(block));
}

/** Stores a document for each of these tokens, as the worker does. */
async function storeAll(
  tokens: ClaimedToken[],
  { name = "n", uriFunction = null }: { name?: string; uriFunction?: string | null } = {},
): Promise<void> {
  const whole = { ...emptyNormalized(), name };
  const result = toStoredDocument({ kind: "document", raw: "{}", whole, from: "data" }, { chainId: CHAIN_ID });
  await storeTokens(sql, {
    chainId: CHAIN_ID,
    outcomes: tokens.map((token) => ({ token, uri: "u", result, uriFunction })),
  });
}

/** Stores a failure for each of these tokens, as the worker does. */
const storeFailed = (tokens: ClaimedToken[], result: Failure = failure("http_404", "Not found.")) =>
  storeTokens(sql, { chainId: CHAIN_ID, outcomes: tokens.map((token) => ({ token, uri: "u", result })) });

/** Makes all tokens due and claims the next ones. */
async function claimDue(): Promise<ClaimedToken[]> {
  await sql`update offchain.token_metadata set due_at = now()`;
  return claim(0, 1);
}

async function claimAndStoreAll(): Promise<void> {
  for (;;) {
    const tokens = await claim(500, 500);
    if (tokens.length === 0) return;
    await storeAll(tokens);
  }
}

async function update(
  contract: Hex,
  { block, from, to, logIndex = 0 }: { block: number; from?: number; to?: number; logIndex?: number },
): Promise<void> {
  await sql`
    insert into onchain_mainnet.metadata_update (block_number, log_index, contract_address, from_token_id, to_token_id)
    values (${block}, ${logIndex}, ${toBytes(contract)}, ${from ?? null}, ${to ?? null})
  `;
}

async function walkAll(): Promise<void> {
  while (!(await walkRanges(sql, { chainId: CHAIN_ID })).isDone);
}

describe("new tokens", () => {
  test("enter once, whatever happens to them in later blocks", async () => {
    await mint(sql, { contract: address(1), tokens: [1, 2], block: 1 });
    expect(await enqueueTokens(sql, indexedTo(1))).toMatchObject({ isDone: true });
    await mint(sql, { contract: address(1), tokens: [2, 3], block: 2 });
    await enqueueTokens(sql, indexedTo(2));
    await enqueueTokens(sql, indexedTo(2));
    expect(idsOf(await claim(10))).toEqual([1, 2, 3]);
    expect(await claim(10)).toEqual([]);
  });

  test("beyond the indexed block wait", async () => {
    await mint(sql, { contract: address(1), tokens: [1], block: 5 });
    await enqueueTokens(sql, indexedTo(4));
    expect(await claim(10)).toEqual([]);
    await enqueueTokens(sql, indexedTo(5));
    expect(await claim(10)).toHaveLength(1);
  });

  test("that a reorg brought into blocks already seen are found within a minute", async () => {
    await mint(sql, { contract: address(1), tokens: [1], block: 1000 });
    await enqueueTokens(sql, indexedTo(1000));
    await mint(sql, { contract: address(1), tokens: [2], block: 999 });
    await sql`update offchain.token_watermark set rechecked_at = now() - interval '50 seconds'`;
    await enqueueTokens(sql, indexedTo(1001));
    expect(idsOf(await claim(10))).toEqual([1]);
    // New blocks meanwhile don't delay that.
    await sql`update offchain.token_watermark set rechecked_at = rechecked_at - interval '11 seconds'`;
    await enqueueTokens(sql, indexedTo(1002));
    expect(idsOf(await claim(10))).toEqual([2]);
    await mint(sql, { contract: address(1), tokens: [3], block: 999 });
    await enqueueTokens(sql, indexedTo(1003));
    expect(await claim(10)).toEqual([]);
  });

  test("that a reorg brought are found within a minute too where no block follows", async () => {
    await mint(sql, { contract: address(1), tokens: [1], block: 1000 });
    await enqueueTokens(sql, indexedTo(1000));
    await mint(sql, { contract: address(1), tokens: [2], block: 1000 });
    await enqueueTokens(sql, indexedTo(1000));
    expect(idsOf(await claim(10))).toEqual([1]);
    expect(await recheck(1000)).toEqual({ isDone: true });
    expect(idsOf(await claim(10))).toEqual([2]);
  });

  test("that a reorg brought are found on a chain with four blocks a second", async () => {
    await mint(sql, { contract: address(1), tokens: [1], block: 1000 });
    await enqueueTokens(sql, indexedTo(1000));
    // The deepest reorg that isn't final, right after that look.
    await mint(sql, { contract: address(1), tokens: [2], block: 701 });
    await sql`update offchain.token_watermark set rechecked_at = now() - interval '59 seconds'`;
    await enqueueTokens(sql, indexedTo(1239));
    await sql`update offchain.token_watermark set rechecked_at = rechecked_at - interval '2 seconds'`;
    await enqueueTokens(sql, indexedTo(1240));
    expect(idsOf(await claim(10))).toEqual([1, 2]);
  });

  test("that a reorg brought are found too where the clock was set back since the last look for them", async () => {
    await mint(sql, { contract: address(1), tokens: [1], block: 1000 });
    await enqueueTokens(sql, indexedTo(1000));
    await mint(sql, { contract: address(1), tokens: [2], block: 999 });
    await sql`update offchain.token_watermark set rechecked_at = now() + interval '5 hours'`;
    await enqueueTokens(sql, indexedTo(1001));
    expect(idsOf(await claim(10))).toEqual([1, 2]);
  });

  test("once fetched are not fetched again for what happens to them later", async () => {
    await mint(sql, { contract: address(1), tokens: [1], block: 1 });
    // What is known of another chain's token says nothing about this one.
    await sql`
      insert into offchain.token_metadata (chain_id, contract_address, token_id, error_code)
      values (1, ${toBytes(address(1))}, 1, 'revert')
    `;
    await enqueueTokens(sql, indexedTo(1));
    const tokens = await claim(1);
    expect(tokens).toHaveLength(1);
    await storeAll(tokens);
    await mint(sql, { contract: address(1), tokens: [1], block: 2 });
    await enqueueTokens(sql, indexedTo(2));
    expect(await claim(1, 1)).toEqual([]);
  });

  test("that a reorg has minted anew are fetched anew, others are not", async () => {
    const mintedAt = async (tokens: number[], timestamp: number) => {
      await sql`
        update onchain_mainnet.token
        set mint_transaction_hash = '\\x02', mint_timestamp = ${timestamp}
        where token_id = any (${tokens}::numeric[])
      `;
      await sql`
        update onchain_mainnet.token_event
        set timestamp = ${timestamp}
        where token_id = any (${tokens}::numeric[])
      `;
    };
    const turnOf = async (token: number) => {
      const [row] = await sql<{ turn: string | null }[]>`
        select turn from offchain.token_metadata where token_id = ${token}
      `;
      return row!.turn;
    };
    await mint(sql, { contract: address(1), tokens: [1, 2, 3, 4], block: 1000 });
    await mintedAt([1, 2, 4], 5);
    await enqueueTokens(sql, indexedTo(1000));
    await storeFailed(await claim(3));
    const turn = await turnOf(4);
    await mintedAt([1, 4], 6);
    // The mint of this token becomes known only now. It is no other mint than before.
    await mintedAt([3], 5);
    await recheck(1001);
    const [row] = await sql`
      select awaiting_metadata_update, is_update_unseen from offchain.token_metadata where token_id = 1
    `;
    expect(row).toEqual({ awaiting_metadata_update: true, is_update_unseen: true });
    expect(await turnOf(4)).toBe(turn);
    const tokens = await claim(10);
    expect(idsOf(tokens)).toEqual([1, 4]);
    expect(tokens.map(({ attempts }) => attempts)).toEqual([1, 1]);
    await storeAll(tokens);
    await recheck(1002);
    expect(await claim(10)).toEqual([]);
    const [counted] = await sql`select sum(tokens)::int as tokens from offchain.metadata_count`;
    expect(counted).toEqual({ tokens: 4 });
  });

  test("that are burned and minted anew are fetched anew, whatever tables are looked at", async () => {
    const mintAt = async (block: number) => {
      await mint(sql, { contract: address(1), tokens: [1, 2], block });
      await mint(sql, { contract: address(2), tokens: [3], block, standard: "ERC1155" });
      await sql`update onchain_mainnet.token_event set timestamp = block_number`;
      await sql`
        update onchain_mainnet.token
        set mint_transaction_hash = '\\x02', mint_timestamp = 5
        where mint_timestamp is null
      `;
    };
    await mintAt(5);
    await enqueueTokens(sql, indexedTo(5));
    await claimAndStoreAll();
    await mintAt(2000);
    // As of before mints were noted: by the first one, as far as is known.
    await sql`update offchain.token_metadata set mint_hash = null where token_id = 2`;
    await enqueueTokens(sql, indexedTo(2000));
    // More units of a token are no other token.
    const tokens = await claim(10, 10);
    expect(idsOf(tokens)).toEqual([1, 2]);
    await storeAll(tokens);
    await recheck(2001);
    await enqueueTokens(sql, indexedTo(2001, "b"));
    expect(await claim(10, 10)).toEqual([]);
  });

  test("that a reorg took the last mint of are fetched anew, however old the one before is", async () => {
    const mintAt = async (block: number) => {
      await mint(sql, { contract: address(1), tokens: [1, 2, 4], block });
      await mint(sql, { contract: address(2), tokens: [3], block, standard: "ERC1155" });
      await sql`update onchain_mainnet.token_event set timestamp = block_number`;
      await sql`update onchain_mainnet.token set mint_transaction_hash = '\\x02', mint_timestamp = 5`;
    };
    await mintAt(5);
    await enqueueTokens(sql, indexedTo(5));
    await claimAndStoreAll();
    await mintAt(2000);
    await enqueueTokens(sql, indexedTo(2000));
    expect(idsOf(await claim(10, 10))).toEqual([1, 2, 4]);
    await recheck(2000);
    expect(await claim(10, 10)).toEqual([]);
    // One of them is only moved instead.
    await sql`delete from onchain_mainnet.token_event where block_number = 2000 and token_id in (1, 3)`;
    await sql`update onchain_mainnet.token_event set event_type = 'transfer' where block_number = 2000 and token_id = 2`;
    await recheck(2000);
    const tokens = await claim(10, 10);
    expect(idsOf(tokens)).toEqual([1, 2]);
    await storeAll(tokens);
    await recheck(2000);
    expect(await claim(10, 10)).toEqual([]);
  });

  test("of a shorter chain after a reorg are found at once", async () => {
    await enqueueTokens(sql, indexedTo(1000));
    await enqueueTokens(sql, indexedTo(990));
    await mint(sql, { contract: address(1), tokens: [2], block: 995 });
    await enqueueTokens(sql, indexedTo(1000));
    expect(idsOf(await claim(10))).toEqual([2]);
  });

  test("of a new deployment are found in all blocks, and what was fetched before is kept", async () => {
    await mint(sql, { contract: address(1), tokens: [1], block: 1000 });
    await enqueueTokens(sql, indexedTo(1000, "a"));
    await storeAll(await claim(10), { name: "kept" });
    await mint(sql, { contract: address(2), tokens: [7], block: 3 });
    await enqueueTokens(sql, indexedTo(1000, "b"));
    expect(idsOf(await claim(10))).toEqual([7]);
    const [row] = await sql`select normalized::json ->> 'name' as name from offchain.token_metadata where token_id = 1`;
    expect(row).toEqual({ name: "kept" });
  });

  test("that come after a new deployment don't wait until all blocks before were looked at", async () => {
    const mintMany = (block: number) =>
      mint(sql, { contract: address(1), tokens: Array.from({ length: 15_000 }, (_, i) => block * 100_000 + i), block });
    await mintMany(1);
    await mintMany(900);
    while (!(await enqueueTokens(sql, indexedTo(1000, "a"))).isDone);
    await sql`update offchain.token_metadata set turn = null, due_at = null`;
    await mint(sql, { contract: address(2), tokens: [7], block: 950 });
    await mint(sql, { contract: address(3), tokens: [8], block: 1001 });
    expect(await enqueueTokens(sql, indexedTo(1001, "b"))).toEqual({ isDone: false });
    expect(idsOf(await claim(10))).toEqual([8]);
    // Blocks that come meanwhile, another deployment, and a reorg that makes the chain shorter.
    await mint(sql, { contract: address(3), tokens: [9], block: 1002 });
    expect(await enqueueTokens(sql, indexedTo(1002, "c"))).toEqual({ isDone: false });
    expect(idsOf(await claim(10))).toEqual([9]);
    while (!(await enqueueTokens(sql, indexedTo(960, "c"))).isDone);
    expect(idsOf(await claim(10))).toEqual([7]);
    await mint(sql, { contract: address(3), tokens: [10], block: 961 });
    expect(await enqueueTokens(sql, indexedTo(961, "c"))).toEqual({ isDone: true });
    expect(idsOf(await claim(10))).toEqual([10]);
    expect(await sql`select rescan_from, rescan_to from offchain.token_watermark`).toEqual([
      { rescan_from: null, rescan_to: null },
    ]);
  });

  test("come in steps of whole blocks where there are many", async () => {
    // One block has more tokens than a step looks at.
    const mintMany = (block: number, count: number) =>
      mint(sql, { contract: address(1), tokens: Array.from({ length: count }, (_, i) => block * 100_000 + i), block });
    await mintMany(1, 10);
    await mintMany(12, 25_000);
    await mintMany(13, 10);
    const steps = [];
    const count = async () => {
      const [row] = await sql`
        select
          (select count(*)::int from offchain.token_metadata) as rows,
          (select tokens::int from offchain.metadata_count) as counted
      `;
      return row;
    };
    expect(await enqueueTokens(sql, indexedTo(9))).toEqual({ isDone: true });
    expect(await count()).toEqual({ rows: 10, counted: 10 });
    for (let isDone = false; !isDone && steps.length < 5;) {
      ({ isDone } = await enqueueTokens(sql, indexedTo(20)));
      steps.push(isDone);
    }
    expect(steps).toEqual([false, true]);
    expect(await count()).toEqual({ rows: 25_020, counted: 25_020 });
  });
});

describe("tokens that a new deployment lacks", () => {
  const [KEPT, OTHER] = [address(1), address(2)];

  /** Publishes a deployment with what readers see now of these contracts, and lets the worker look at it. */
  async function publish(deployment: string, contracts: Hex[], block: number): Promise<void> {
    await createOnchainTables(sql, deployment);
    for (const table of ["contract", "token"])
      await sql`
        insert into ${sql(`${deployment}.${table}`)}
        select *
        from ${sql(`onchain_mainnet.${table}`)}
        where contract_address = any (${contracts.map((contract) => contract.replace("0x", "\\x"))}::text[]::bytea[])
      `;
    await note(deployment, { isPublished: true });
    await look(deployment, block);
  }

  /** As the indexer notes a deployment. */
  const note = (deployment: string, { isPublished }: { isPublished: boolean }) => sql`
    insert into offchain.deployment (schema_name, network, chain_id, fingerprint, generation, genesis_hash, published_at)
    values (${deployment}, 'mainnet', ${CHAIN_ID}, ${deployment}, 1, '0x01', ${isPublished ? sql`clock_timestamp()` : null})
  `;

  async function look(deployment: string, block: number): Promise<void> {
    const indexed = indexedTo(block, deployment);
    await enqueueContracts(sql, indexed);
    while (!(await enqueueTokens(sql, indexed)).isDone);
    while (!(await enqueueUpdates(sql, indexed)).isDone);
    while (!(await dropTokens(sql, indexed)).isDone);
  }

  const status = async () => {
    const { tokens, fetched, waiting, failing, failures } = await readMetadataStatus(sql, { chainId: CHAIN_ID });
    return { tokens, fetched, waiting, failing, failures: failures.length };
  };
  const dueContracts = async () => {
    const rows = await sql<{ address: string }[]>`
      select '0x' || encode(contract_address, 'hex') as address
      from offchain.contract_metadata
      where due_at <= now() and uri_due_at <= now()
      order by 1
    `;
    return rows.map((row) => row.address);
  };

  beforeAll(() => sql`insert into offchain.network (name, chain_id) values ('mainnet', ${CHAIN_ID})`);
  afterAll(() => sql`truncate offchain.network`);

  test("leave the queue and the counters, with what was fetched of them kept, and are back with a deployment that has them", async () => {
    await mint(sql, { contract: KEPT, tokens: [1, 2], block: 10 });
    await mint(sql, { contract: OTHER, tokens: [11, 12, 13, 14], block: 11 });
    await look("", 1000);
    const byId = new Map((await claim(10)).map((token) => [Number(token.token_id), token]));
    await storeAll([1, 2, 11].map((id) => byId.get(id)!));
    await storeFailed([byId.get(12)!]);
    await releaseClaims(sql, { chainId: CHAIN_ID, tokens: [{ ...byId.get(13)!, seconds: 0 }] });
    await sql`update offchain.token_metadata set media_due_at = now() where token_id = 11`;
    expect(await status()).toEqual({ tokens: 6, fetched: 3, waiting: 2, failing: 1, failures: 1 });

    await publish("narrow", [KEPT], 1000);
    expect(await status()).toEqual({ tokens: 2, fetched: 2, waiting: 0, failing: 0, failures: 0 });
    expect(await dueContracts()).toEqual([KEPT]);
    // What was being fetched, and whoever asks for them, brings none of them back.
    await storeAll([byId.get(14)!]);
    await requestRange(sql, { chainId: CHAIN_ID, contractAddress: OTHER });
    await update(OTHER, { block: 1001, from: 11, to: 11 });
    await look("narrow", 1001);
    await walkAll();
    expect(await sql`select from offchain.token_metadata where media_due_at is not null`).toHaveLength(0);
    expect(await claim(10, 10)).toEqual([]);
    expect(await status()).toMatchObject({ tokens: 2, fetched: 2 });

    await publish("wide", [KEPT, OTHER], 1001);
    expect(await status()).toEqual({ tokens: 6, fetched: 3, waiting: 3, failing: 0, failures: 0 });
    expect(await dueContracts()).toEqual([KEPT, OTHER]);
    const back = await claim(10, 10);
    expect(idsOf(back)).toEqual([11, 12, 13, 14]);
    expect(back.find(({ token_id }) => token_id === "11")).toMatchObject({ is_fetched: true });
    await storeFailed(back);
    expect(await status()).toEqual({ tokens: 6, fetched: 3, waiting: 0, failing: 3, failures: 1 });
    expect(await sql`select from offchain.dropped_token`).toHaveLength(0);
  });

  test("are back with the first event that a later start block leaves them, and counted once", async () => {
    await mint(sql, { contract: KEPT, tokens: [1, 2], block: 10 });
    await look("", 1000);
    await storeAll(await claim(10));
    await sql`truncate onchain_mainnet.token, onchain_mainnet.token_event`;
    await publish("later", [], 1000);
    expect(await status()).toMatchObject({ tokens: 0, fetched: 0 });
    await mint(sql, { contract: KEPT, tokens: [2], block: 1001 });
    // Somebody asks for it before the worker has seen it, and it is fetched.
    await sql`update offchain.token_metadata set refresh_requested_at = now() where token_id = 2`;
    await storeAll(await claim(10));
    expect(await status()).toMatchObject({ tokens: 1, fetched: 1 });
    await look("later", 1001);
    expect(await status()).toMatchObject({ tokens: 1, fetched: 1 });
  });

  test("are left alone while it is being built, and where their blocks aren't final", async () => {
    await mint(sql, { contract: KEPT, tokens: [1], block: 1000 });
    await look("", 1000);
    await note("unfinished", { isPublished: false });
    await dropTokens(sql, indexedTo(1000, "unfinished"));
    await publish("lagging", [], 1000);
    expect(await status()).toMatchObject({ tokens: 1 });
  });

  test("are those of the newest one also for a worker that has slept while it was published", async () => {
    await mint(sql, { contract: KEPT, tokens: [1, 2], block: 10 });
    await mint(sql, { contract: OTHER, tokens: [11, 12], block: 11 });
    await publish("first", [KEPT], 1000);
    const asleep = indexedTo(1000, "first");
    await publish("second", [KEPT, OTHER], 1000);
    while (!(await dropTokens(sql, asleep)).isDone);
    expect(await status()).toMatchObject({ tokens: 4 });
    expect(await dueContracts()).toEqual([KEPT, OTHER]);
    expect(idsOf(await claim(10, 10))).toEqual([1, 2, 11, 12]);
  });
});

describe("turns", () => {
  test("a mint of thousands leaves every second place to others", async () => {
    await mint(sql, { contract: address(1), tokens: Array.from({ length: 5000 }, (_, i) => i), block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    await storeAll(await claim(1000));
    await mint(sql, { contract: address(2), tokens: [1, 2, 3, 4, 5], block: 2 });
    await enqueueTokens(sql, indexedTo(2));
    const next = await claim(12);
    expect(next.filter(({ contract_address }) => contract_address === address(2))).toHaveLength(5);
  });

  test("a contract that comes late doesn't go before all that wait", async () => {
    for (let i = 1; i <= 3; i++) await mint(sql, { contract: address(i), tokens: [1, 2, 3, 4, 5, 6], block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    await storeAll(await claim(9));
    await mint(sql, { contract: address(4), tokens: Array.from({ length: 100 }, (_, i) => i), block: 2 });
    await enqueueTokens(sql, indexedTo(2));
    const next = await claim(16);
    for (let i = 1; i <= 3; i++)
      expect(next.filter(({ contract_address }) => contract_address === address(i))).toHaveLength(3);
  });

  test("a contract that comes while a refresh request waits goes before nobody else", async () => {
    await mint(sql, { contract: address(1), tokens: Array.from({ length: 50 }, (_, i) => i), block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    await sql`update offchain.token_metadata set refresh_requested_at = now() where token_id = 49`;
    await mint(sql, { contract: address(2), tokens: Array.from({ length: 50 }, (_, i) => 100 + i), block: 2 });
    await enqueueTokens(sql, indexedTo(2));
    expect(idsOf(await claim(1))).toEqual([49]);
    const next = await claim(20);
    expect(next.filter(({ contract_address }) => contract_address === address(1)).length).toBeGreaterThanOrEqual(10);
  });

  test("a refresh request comes first, and requests in their order", async () => {
    await mint(sql, { contract: address(1), tokens: Array.from({ length: 100 }, (_, i) => i), block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    await storeAll(await claim(50));
    const refresh = (id: number) => sql`
      insert into offchain.token_metadata (chain_id, contract_address, token_id, refresh_requested_at)
      values (${CHAIN_ID}, ${toBytes(address(1))}, ${id}, clock_timestamp())
      on conflict (chain_id, contract_address, token_id) do update set
        awaiting_metadata_update = true,
        refresh_requested_at = excluded.refresh_requested_at
    `;
    await refresh(7);
    await refresh(3);
    await refresh(99);
    await refresh(1234);
    expect((await claim(1)).map(({ token_id }) => token_id)).toEqual(["7"]);
    expect(idsOf(await claim(2))).toEqual([3, 99]);
    expect(idsOf(await claim(1))).toEqual([1234]);
  });

  test("a refresh request that had to wait for its host comes before all retries and all that are new", async () => {
    await mint(sql, { contract: address(1), tokens: Array.from({ length: 100 }, (_, i) => i), block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    const tokens = await claim(60);
    await releaseClaims(sql, { chainId: CHAIN_ID, tokens: tokens.map((token) => ({ ...token, seconds: 0 })) });
    await sql`
      update offchain.token_metadata
      set refresh_requested_at = now(), awaiting_metadata_update = true
      where token_id in (7, 8)
    `;
    const refreshes = await claim(2);
    expect(idsOf(refreshes)).toEqual([7, 8]);
    const seconds = { 7: 60, 8: 0 } as Record<string, number>;
    await releaseClaims(sql, {
      chainId: CHAIN_ID,
      tokens: refreshes.map((token) => ({ ...token, seconds: seconds[token.token_id]! })),
    });
    const next = await claim(1, 1);
    expect(idsOf(next)).toContain(8);
    expect(idsOf(next)).not.toContain(7);
    await storeAll(next);
    await sql`update offchain.token_metadata set due_at = now() where token_id = 7`;
    expect(idsOf(await claim(1, 1))).toContain(7);
    // Once it is done, it is a token like any other.
    await sql`update offchain.token_metadata set due_at = now() where token_id = 8`;
    expect(idsOf(await claim(1, 1))).not.toContain(8);
  });

  test("a request while the token is fetched is not lost", async () => {
    await mint(sql, { contract: address(1), tokens: [1], block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    const tokens = await claim(1);
    await sql`update offchain.token_metadata set refresh_requested_at = now(), awaiting_metadata_update = true`;
    await storeAll(tokens);
    const [row] = await sql`select awaiting_metadata_update as awaiting from offchain.token_metadata`;
    expect(row).toEqual({ awaiting: true });
    const again = await claim(1);
    expect(again).toHaveLength(1);
    await storeAll(again);
    expect(await sql`select awaiting_metadata_update as awaiting, turn, due_at from offchain.token_metadata`).toEqual([
      { awaiting: false, turn: null, due_at: null },
    ]);
  });
});

describe("claims", () => {
  test("of a worker that died come back when their lease ends", async () => {
    await mint(sql, { contract: address(1), tokens: [1], block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    expect(await claim(1, 1)).toMatchObject([{ attempts: 1 }]);
    expect(await claim(1, 1)).toEqual([]);
    await sql`update offchain.token_metadata set due_at = due_at - interval '121 seconds'`;
    expect(await claim(1, 1)).toMatchObject([{ attempts: 2 }]);
  });

  test("are renewed, and given back as no attempt", async () => {
    await mint(sql, { contract: address(1), tokens: [1], block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    const tokens = await claim(1);
    await sql`update offchain.token_metadata set due_at = now() + interval '1 second'`;
    await renewClaims(sql, { chainId: CHAIN_ID, tokens });
    const seconds = async () => {
      const [row] = await sql<{ seconds: number; attempts: number }[]>`
        select extract(epoch from due_at - now())::float8 as seconds, attempts from offchain.token_metadata
      `;
      return row!;
    };
    expect((await seconds()).seconds).toBeGreaterThan(100);
    await releaseClaims(sql, { chainId: CHAIN_ID, tokens: tokens.map((token) => ({ ...token, seconds: 0 })) });
    expect((await seconds()).attempts).toBe(0);
    expect(await claim(0, 1)).toHaveLength(1);
  });

  test("that have an outcome are neither renewed nor given back", async () => {
    await mint(sql, { contract: address(1), tokens: [1, 2], block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    const tokens = await claim(2);
    await storeAll(tokens.slice(0, 1));
    await storeFailed(tokens.slice(1).map((token) => ({ ...token, attempts: 20 })));
    const state = () => sql`
      select
        due_at,
        attempts
      from offchain.token_metadata
      order by token_id
    `;
    const stored = [...(await state())];
    expect(stored[0]).toEqual({ due_at: null, attempts: 0 });
    await renewClaims(sql, { chainId: CHAIN_ID, tokens });
    expect([...(await state())]).toEqual(stored);
    await releaseClaims(sql, { chainId: CHAIN_ID, tokens: tokens.map((token) => ({ ...token, seconds: 0 })) });
    expect([...(await state())]).toEqual(stored);
  });

  test("of a token that is asked for meanwhile leave its place in the queue as it is", async () => {
    await mint(sql, { contract: address(1), tokens: [1], block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    const tokens = await claim(1);
    await sql`update offchain.token_metadata set refresh_requested_at = now()`;
    const state = () => sql`select turn, due_at, attempts from offchain.token_metadata`;
    const asked = [...(await state())];
    await renewClaims(sql, { chainId: CHAIN_ID, tokens });
    await releaseClaims(sql, { chainId: CHAIN_ID, tokens: tokens.map((token) => ({ ...token, seconds: 60 })) });
    expect([...(await state())]).toEqual(asked);
  });
});

describe("two claims of one token", () => {
  /** Claims a token, asks for it again, and claims it again. */
  async function claimAgain(): Promise<[ClaimedToken[], ClaimedToken[]]> {
    await mint(sql, { contract: address(1), tokens: [1], block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    const first = await claim(1);
    await sql`update offchain.token_metadata set refresh_requested_at = now(), awaiting_metadata_update = true`;
    return [first, await claim(1)];
  }
  const state = async () => {
    const [row] = await sql`
      select
        normalized::json ->> 'name' as name,
        awaiting_metadata_update as awaiting,
        error_code,
        attempts,
        extract(epoch from due_at - now()) > 100 as has_lease
      from offchain.token_metadata
    `;
    return row;
  };
  const done = { awaiting: false, error_code: null, attempts: 0, has_lease: null };

  test("what the older came to never goes over what the newer came to", async () => {
    const [first, second] = await claimAgain();
    await storeAll(second, { name: "new" });
    await storeAll(first, { name: "old" });
    expect(await state()).toEqual({ ...done, name: "new" });
    await storeFailed([first[0]!]);
    expect(await state()).toEqual({ ...done, name: "new" });
  });

  test("only the newer ends the wait, and its lease stays until then", async () => {
    const [first, second] = await claimAgain();
    await storeAll(first, { name: "old" });
    expect(await state()).toEqual({ ...done, name: "old", awaiting: true, attempts: 2, has_lease: true });
    await storeAll(second, { name: "new" });
    expect(await state()).toEqual({ ...done, name: "new" });
  });

  test("are stored right in one batch, beside others", async () => {
    const [first, second] = await claimAgain();
    await mint(sql, { contract: address(1), tokens: [2], block: 2 });
    await enqueueTokens(sql, indexedTo(2));
    await storeAll([...second, ...first, ...(await claim(1))], { name: "n" });
    expect(await sql`select awaiting_metadata_update as awaiting, due_at from offchain.token_metadata`).toEqual([
      { awaiting: false, due_at: null },
      { awaiting: false, due_at: null },
    ]);
  });

  test("the older is neither renewed nor given back", async () => {
    const [first, second] = await claimAgain();
    await releaseClaims(sql, { chainId: CHAIN_ID, tokens: first.map((token) => ({ ...token, seconds: 0 })) });
    expect(await claim(1, 1)).toEqual([]);
    await sql`update offchain.token_metadata set due_at = now() + interval '50 seconds'`;
    await renewClaims(sql, { chainId: CHAIN_ID, tokens: first });
    expect(await state()).toMatchObject({ has_lease: false });
    await storeAll(second, { name: "new" });
    await renewClaims(sql, { chainId: CHAIN_ID, tokens: first });
    expect(await state()).toEqual({ ...done, name: "new" });
  });
});

describe("counters", () => {
  const count = async () => {
    const [counts] = await sql`
      select
        sum(tokens)::int as tokens,
        sum(fetched)::int as fetched,
        sum(failing)::int as failing
      from offchain.metadata_count
    `;
    const failures = await sql`select code, host, tokens::int from offchain.metadata_failure order by code, host`;
    return { ...counts, failures: [...failures] };
  };
  const storeFailures = (tokens: ClaimedToken[], host: string) =>
    storeFailed(tokens, failure("http_404", "Not found.", { host }));

  /** Two claims of each of three tokens, as where one is asked for again while it is fetched. */
  async function claimTwice(): Promise<[ClaimedToken[], ClaimedToken[]]> {
    await mint(sql, { contract: address(1), tokens: [1, 2, 3], block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    const first = await claim(3);
    await requestRange(sql, { chainId: CHAIN_ID, contractAddress: address(1) });
    await walkAll();
    return [first, await claim(3)];
  }

  test("count a token once that two attempts fetched", async () => {
    const [first, second] = await claimTwice();
    await storeAll(first);
    await storeAll(second);
    expect(await count()).toEqual({ tokens: 3, fetched: 3, failing: 0, failures: [] });
  });

  test("count a token by its last claim, whichever attempt was stored last", async () => {
    const [first, second] = await claimTwice();
    await storeFailures(second.slice(0, 1), "one.example");
    await storeAll(second.slice(1, 2));
    expect(await count()).toMatchObject({ fetched: 1, failing: 1 });
    await storeAll(first.slice(0, 1));
    await storeFailures(first.slice(1), "other.example");
    expect(await count()).toMatchObject({ fetched: 1, failing: 2 });
    await storeFailures(second.slice(2), "one.example");
    expect(await count()).toEqual({
      tokens: 3,
      fetched: 1,
      failing: 2,
      failures: [{ code: "http_404", host: "one.example", tokens: 2 }],
    });
  });

  test("count a failure by its last host, which several attempts at once have changed", async () => {
    await mint(sql, { contract: address(1), tokens: [1], block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    await storeFailures(await claim(1), "one.example");
    const claims: ClaimedToken[][] = [];
    for (let i = 0; i < 2; i++) {
      await requestRange(sql, { chainId: CHAIN_ID, contractAddress: address(1) });
      await walkAll();
      claims.push(await claim(1));
    }
    await storeFailures(claims[0]!, "two.example");
    await storeFailures(claims[1]!, "three.example");
    expect(await count()).toMatchObject({ failures: [{ code: "http_404", host: "three.example", tokens: 1 }] });
  });

  test("count a failure by its host until the token is fetched, also where it waits for another host meanwhile", async () => {
    await mint(sql, { contract: address(1), tokens: [1], block: 1 });
    await enqueueTokens(sql, indexedTo(1));
    await storeFailures(await claim(1), "one.example");
    const postponed = (await claimDue()).map((token) => ({ ...token, seconds: 0, host: "other.example" }));
    await releaseClaims(sql, { chainId: CHAIN_ID, tokens: postponed });
    expect(await sql`select error_host, error_message, attempts from offchain.token_metadata`).toEqual([
      { error_host: "one.example", error_message: "Not found.", attempts: 1 },
    ]);
    expect(await count()).toMatchObject({ failures: [{ code: "http_404", host: "one.example", tokens: 1 }] });
    await storeFailures(await claimDue(), "other.example");
    expect(await count()).toMatchObject({ failures: [{ code: "http_404", host: "other.example", tokens: 1 }] });
    await storeAll(await claimDue());
    expect(await count()).toEqual({ tokens: 1, fetched: 1, failing: 0, failures: [] });
  });

  /** Removes a block's tokens like a reorg. */
  const replace = (tokens: number[]) => sql`delete from onchain_mainnet.token_event where token_id = any (${tokens})`;
  const settleAt = async (block: number) => {
    while (!(await settleTokens(sql, indexedTo(block))).isDone);
  };

  test("forget tokens that a reorg took away, whatever became of them, once its blocks are final", async () => {
    await mint(sql, { contract: address(1), tokens: [1, 2, 3, 4, 5], block: 1000 });
    await enqueueTokens(sql, indexedTo(1000));
    const [fetched, stale, failing] = await claim(3);
    await storeAll([fetched!, stale!]);
    await storeFailures([failing!], "one.example");
    await sql`update offchain.token_metadata set due_at = now() where token_id = ${stale!.token_id}::numeric`;
    await storeFailures(await claim(0, 1), "one.example");
    expect(await count()).toMatchObject({ tokens: 5, fetched: 2, failing: 1, failures: [{ tokens: 2 }] });
    await replace([1, 2, 3, 4]);
    await settleAt(1029);
    expect(await count()).toMatchObject({ tokens: 5 });
    await settleAt(1030);
    expect(await count()).toEqual({ tokens: 1, fetched: 0, failing: 0, failures: [] });
    expect(await sql`select token_id from offchain.token_metadata`).toEqual([{ token_id: "5" }]);
    expect(await sql`select from offchain.unsettled_token`).toHaveLength(0);
  });

  test("keep what came back with a later block, until that is final too", async () => {
    await mint(sql, { contract: address(1), tokens: [1, 2], block: 1000 });
    await enqueueTokens(sql, indexedTo(1000));
    await storeAll(await claim(2));
    await replace([1, 2]);
    await mint(sql, { contract: address(1), tokens: [1, 2], block: 1002 });
    await settleAt(1030);
    expect(await count()).toMatchObject({ tokens: 2, fetched: 2 });
    await replace([1]);
    await settleAt(1032);
    expect(await count()).toMatchObject({ tokens: 1, fetched: 1 });
  });

  test("leave alone what was there before, and what is final when it is seen", async () => {
    await mint(sql, { contract: address(1), tokens: [1], block: 1 });
    await mint(sql, { contract: address(1), tokens: [2], block: 1000 });
    await enqueueTokens(sql, indexedTo(1000));
    // As after the tables were built anew for fewer contracts.
    await replace([1]);
    await settleAt(2000);
    expect(await count()).toMatchObject({ tokens: 2 });
  });

  test("a token is stored nowhere that went while it was fetched", async () => {
    await mint(sql, { contract: address(1), tokens: [1, 2], block: 1000 });
    await enqueueTokens(sql, indexedTo(1000));
    const claimed = await claim(2);
    await replace([1]);
    await settleAt(1030);
    await storeAll(claimed);
    expect(await count()).toEqual({ tokens: 1, fetched: 1, failing: 0, failures: [] });
  });

  test("count right whichever of two writers comes first", async () => {
    const [first, second] = await claimTwice();
    await Promise.all([storeAll(first), storeFailures(second.toReversed(), "one.example")]);
    const { fetched, failing } = (await count()) as unknown as { fetched: number; failing: number };
    expect(fetched + failing).toBe(3);
    const [row] = await sql`
      select count(*) filter (where normalized is not null)::int as fetched from offchain.token_metadata
    `;
    expect(row).toEqual({ fetched });
  });
});

describe("what contracts say of changes", () => {
  beforeEach(async () => {
    await mint(sql, { contract: address(1), tokens: Array.from({ length: 2500 }, (_, i) => i), block: 1 });
    await mint(sql, { contract: address(2), tokens: [1, 2], block: 1 });
    await enqueueContracts(sql, indexedTo(1));
    await enqueueTokens(sql, indexedTo(1));
    await enqueueUpdates(sql, indexedTo(1));
    await claimAndStoreAll();
  });

  test("a token's update makes that token due, once", async () => {
    await sql`update offchain.token_metadata set attempts = 9`;
    await update(address(1), { block: 2, from: 5, to: 5 });
    expect(await enqueueUpdates(sql, indexedTo(2))).toEqual({ count: 1, isDone: true });
    await walkAll();
    expect(
      await sql`select awaiting_metadata_update as awaiting from offchain.token_metadata where token_id = 5`,
    ).toEqual([{ awaiting: true }]);
    const tokens = await claim(10, 10);
    // Earlier attempts don't make the pause of a changed token longer.
    expect(tokens).toMatchObject([{ token_id: "5", attempts: 1 }]);
    await storeAll(tokens);
    // The same blocks are looked at again, as after a reorg.
    await enqueueUpdates(sql, indexedTo(3));
    await walkAll();
    expect(await claim(10, 10)).toEqual([]);
    // What no reorg reaches any more is not kept.
    for (const block of [2000, 2001]) await enqueueUpdates(sql, indexedTo(block));
    expect(await sql`select from offchain.handled_update`).toHaveLength(0);
  });

  test("of ranges that overlap are walked once", async () => {
    await sql`
      insert into onchain_mainnet.metadata_update (block_number, log_index, contract_address, from_token_id, to_token_id)
      select 2, i, ${toBytes(address(1))}, i, power(2::numeric, 256) - 1 - i
      from generate_series(0, 999) i
    `;
    for (const [logIndex, from, to] of [
      [1000, 1, 1],
      [1001, 2, 5],
    ] as const)
      await update(address(2), { block: 2, logIndex, from, to });
    await enqueueUpdates(sql, indexedTo(2));
    expect(await sql`select from_token_id, to_token_id from offchain.token_range order by contract_address`).toEqual([
      { from_token_id: "0", to_token_id: (2n ** 256n - 1n).toString() },
      { from_token_id: "2", to_token_id: "5" },
    ]);
    await walkAll();
    expect(await claim(9999)).toHaveLength(2502);
  });

  test("come in steps of whole blocks where there are many", async () => {
    await sql`
      insert into onchain_mainnet.metadata_update (block_number, log_index, contract_address, from_token_id, to_token_id)
      select 2, i, ${toBytes(address(1))}, i % 2500, i % 2500
      from generate_series(0, 5999) i
    `;
    await update(address(1), { block: 3, from: 5, to: 5 });
    expect(await enqueueUpdates(sql, indexedTo(3))).toEqual({ count: 6000, isDone: false });
    expect(await enqueueUpdates(sql, indexedTo(3))).toEqual({ count: 1, isDone: true });
    expect(await claim(9999)).toHaveLength(2500);
  });

  test("a token's update while the token is fetched is looked at once more after that, too", async () => {
    await sql`update offchain.token_metadata set due_at = now() where token_id = 5`;
    const underWay = await claim(0, 10);
    await update(address(1), { block: 2, from: 5, to: 5 });
    await enqueueUpdates(sql, indexedTo(2));
    await storeAll(underWay);
    const seconds = async () => {
      const tokens = await claim(10, 10);
      expect(idsOf(tokens)).toEqual([5]);
      await storeAll(tokens);
      const [row] = await sql`
        select extract(epoch from due_at - now()) between 50 and 60 as is_later
        from offchain.token_metadata
        where token_id = 5
      `;
      await sql`update offchain.token_metadata set due_at = now() where token_id = 5`;
      return row;
    };
    expect(await seconds()).toEqual({ is_later: true });
    expect(await seconds()).toEqual({ is_later: null });
  });

  test("a token's update that a reorg put in the place of another one's is taken up too", async () => {
    await update(address(1), { block: 2, from: 5, to: 5 });
    await enqueueUpdates(sql, indexedTo(2));
    await walkAll();
    await storeAll(await claim(10, 10));
    await sql`update onchain_mainnet.metadata_update set from_token_id = 6, to_token_id = 6`;
    await enqueueUpdates(sql, indexedTo(3));
    await walkAll();
    // What was read of the first one is of the chain that lost.
    expect(idsOf(await claim(10, 10))).toEqual([5, 6]);
  });

  test("what was read for updates that a reorg took back is read once more", async () => {
    await sql`update offchain.contract_metadata set uri_due_at = null`;
    await update(address(1), { block: 2, from: 5, to: 5 });
    await update(address(1), { block: 2, from: 7, to: 9, logIndex: 1 });
    await update(address(2), { block: 2, logIndex: 2 });
    await enqueueUpdates(sql, indexedTo(2));
    await walkAll();
    await storeAll(await claim(10, 10));
    await sql`update offchain.contract_metadata set uri_due_at = null`;
    await sql`truncate onchain_mainnet.metadata_update`;
    for (const block of [3, 4]) {
      expect(await enqueueUpdates(sql, indexedTo(block))).toMatchObject({ count: block === 3 ? 3 : 0 });
      await walkAll();
    }
    const tokens = await claim(10, 10);
    expect(idsOf(tokens)).toEqual([5, 7, 8, 9]);
    expect(await sql`select from offchain.contract_metadata where uri_due_at <= now()`).toHaveLength(1);
    await storeAll(tokens);
    expect(await claim(10, 10)).toEqual([]);
  });

  test("those of blocks that a reorg put in are taken up within a minute where no block follows, once", async () => {
    await enqueueTokens(sql, indexedTo(2));
    await update(address(1), { block: 2, from: 5, to: 5 });
    await update(address(2), { block: 2, logIndex: 1 });
    await enqueueUpdates(sql, indexedTo(2));
    await storeAll(await claim(10, 10));
    await sql`update offchain.contract_metadata set uri_due_at = null`;
    await sql`truncate onchain_mainnet.metadata_update`;
    await update(address(1), { block: 2, from: 6, to: 6 });
    await enqueueUpdates(sql, indexedTo(2));
    expect(await claim(10, 10)).toEqual([]);
    for (const count of [3, 0]) {
      await recheck(2);
      expect(await enqueueUpdates(sql, indexedTo(2))).toEqual({ count, isDone: true });
    }
    expect(idsOf(await claim(10, 10))).toEqual([5, 6]);
    expect(await sql`select from offchain.contract_metadata where uri_due_at <= now()`).toHaveLength(1);
  });

  test("those of a branch that is shorter than the one that lost are taken up within a minute, too, once", async () => {
    await enqueueTokens(sql, indexedTo(9));
    await update(address(1), { block: 9, from: 5, to: 5 });
    await enqueueUpdates(sql, indexedTo(9));
    await storeAll(await claim(10, 10));
    await sql`truncate onchain_mainnet.metadata_update`;
    await update(address(1), { block: 6, from: 6, to: 6 });
    const recheckUpdates = async () => {
      await recheck(6);
      return enqueueUpdates(sql, indexedTo(6));
    };
    expect(await recheckUpdates()).toEqual({ count: 2, isDone: true });
    expect(idsOf(await claim(10, 10))).toEqual([5, 6]);
    expect(await recheckUpdates()).toEqual({ count: 0, isDone: true });
  });

  test("those of long ago are not taken up again while a chain is indexed anew", async () => {
    await enqueueUpdates(sql, indexedTo(2000));
    await update(address(1), { block: 1000, from: 5, to: 5 });
    await recheck(10);
    for (const block of [10, 1500, 2001])
      expect(await enqueueUpdates(sql, indexedTo(block))).toEqual({ count: 0, isDone: true });
  });

  test("updates of a new deployment are not taken up again", async () => {
    await update(address(1), { block: 2, from: 5, to: 5 });
    await enqueueUpdates(sql, indexedTo(1000));
    await storeAll(await claim(10, 10));
    await enqueueUpdates(sql, indexedTo(1001, "b"));
    expect(await claim(10, 10)).toEqual([]);
  });

  test("of a chain that began anew nothing stays, and all is looked for as on the first day, once", async () => {
    await sql`update offchain.contract_metadata set name = 'old', uri_function = 'uri', due_at = null, uri_due_at = null`;
    await sql`update offchain.token_metadata set refresh_requested_at = now() where token_id = 7`;
    await sql`update offchain.token_metadata set refresh_requested_at = now() where token_id = 8`;
    const [underWay, failed] = await claim(2);
    await storeFailed([failed!]);
    await update(address(1), { block: 2, from: 0, to: 9 });
    await enqueueUpdates(sql, indexedTo(2));
    await sql`truncate onchain_mainnet.token, onchain_mainnet.token_event, onchain_mainnet.metadata_update`;
    await mint(sql, { contract: address(2), tokens: [1, 2, 3], block: 2 });
    const anew = indexedTo(3, "b", "0x02");
    for (let isDone = false; !isDone;) {
      await enqueueContracts(sql, anew);
      await enqueueTokens(sql, anew);
      ({ isDone } = await enqueueUpdates(sql, anew));
    }
    for (const table of ["metadata_failure", "token_range", "handled_update"])
      expect(await sql`select from ${sql(`offchain.${table}`)}`).toHaveLength(0);
    // The token that was being fetched belongs to the other chain.
    await storeAll([underWay!], { name: "old" });
    expect(
      await sql`select name, uri_function from offchain.contract_metadata where due_at <= now() and uri_due_at <= now()`,
    ).toEqual([
      { name: "", uri_function: null },
      { name: "", uri_function: null },
    ]);
    const tokens = await claim(9999);
    expect(idsOf(tokens)).toEqual([1, 2, 3]);
    expect(tokens.some(({ is_fetched }) => is_fetched)).toBe(false);
    await storeAll(tokens);
    expect(
      await sql`select sum(tokens)::int as tokens, sum(fetched)::int as fetched from offchain.metadata_count`,
    ).toEqual([{ tokens: 3, fetched: 3 }]);
    await enqueueUpdates(sql, indexedTo(4, "b", "0x02"));
    await walkAll();
    expect(await claim(10)).toEqual([]);
  });

  test("a chain whose first block isn't known for a while is none that began anew", async () => {
    const fetched = () => sql`select from offchain.token_metadata where normalized is not null`;
    await enqueueUpdates(sql, indexedTo(2, "a", ""));
    await enqueueUpdates(sql, indexedTo(3));
    expect(await fetched()).toHaveLength(2502);
    await sql`update offchain.token_watermark set updates_genesis_hash = ''`;
    await enqueueUpdates(sql, indexedTo(4));
    expect(await fetched()).toHaveLength(2502);
    await enqueueUpdates(sql, indexedTo(5, "b", ""));
    await enqueueUpdates(sql, indexedTo(6, "c", "0x02"));
    expect(await fetched()).toHaveLength(0);
  });

  test("an outcome of before a chain began anew is not stored for the token that is in its place", async () => {
    await sql`update offchain.token_metadata set refresh_requested_at = now() where token_id = 7`;
    await mint(sql, { contract: address(1), tokens: [9999], block: 2 });
    await enqueueTokens(sql, indexedTo(2));
    // Of the new chain's tokens, one had a document before, and one was never tried.
    const underWay = await claim(2);
    expect(idsOf(underWay)).toEqual([7, 9999]);
    const anew = indexedTo(3, "b", "0x02");
    await enqueueUpdates(sql, anew);
    await enqueueTokens(sql, anew);
    await storeAll(underWay, { name: "old" });
    expect(await sql`select normalized from offchain.token_metadata where token_id in (7, 9999)`).toEqual([
      { normalized: null },
      { normalized: null },
    ]);
  });

  test("what was said before the tokens were looked for is in what is read of them", async () => {
    await sql`truncate offchain.token_metadata, offchain.token_watermark`;
    const looking = { ...indexedTo(500), head_block: 1000 };
    await enqueueTokens(sql, looking);
    await enqueueUpdates(sql, looking);
    await claimAndStoreAll();
    await update(address(1), { block: 600, from: 5, to: 5 });
    await update(address(1), { block: 601, from: 6, to: 9 });
    await update(address(1), { block: 1001, from: 10, to: 10 });
    for (const block of [800, 1001]) await enqueueUpdates(sql, indexedTo(block));
    await walkAll();
    expect(idsOf(await claim(10))).toEqual([10]);
  });

  test("of tokens that don't exist leaves nothing", async () => {
    for (let i = 0; i < 10; i++) await update(address(2), { block: 2, from: 1000 + i, to: 1000 + i, logIndex: i });
    await update(address(2), { block: 3, from: 3, to: 1000 });
    await enqueueUpdates(sql, indexedTo(3));
    expect(await sql`select from offchain.token_range`).toHaveLength(0);
    expect(await claim(10)).toEqual([]);
  });

  test("thousands of single updates leave every second place to others", async () => {
    await sql`
      insert into onchain_mainnet.metadata_update (block_number, log_index, contract_address, from_token_id, to_token_id)
      select 2, i, ${toBytes(address(1))}, i, i
      from generate_series(0, 2499) i
    `;
    await enqueueUpdates(sql, indexedTo(2));
    await mint(sql, { contract: address(3), tokens: Array.from({ length: 100 }, (_, i) => i), block: 3 });
    await update(address(2), { block: 3, from: 1, to: 1 });
    await enqueueTokens(sql, indexedTo(3));
    await enqueueUpdates(sql, indexedTo(3));
    const next = await claim(202);
    expect(next.filter(({ contract_address }) => contract_address === address(3))).toHaveLength(100);
    expect(next.filter(({ contract_address }) => contract_address === address(2))).toHaveLength(1);
  });

  test("a contract that had thousands of turns before doesn't wait for all of another one", async () => {
    await mint(sql, { contract: address(3), tokens: Array.from({ length: 100 }, (_, i) => i), block: 2 });
    await update(address(1), { block: 2, from: 5, to: 5 });
    await enqueueTokens(sql, indexedTo(2));
    await enqueueUpdates(sql, indexedTo(2));
    const next = await claim(3);
    expect(next.filter(({ contract_address }) => contract_address === address(1))).toHaveLength(1);
  });

  test("many ranges of a contract hold up no other one's", async () => {
    for (let i = 1; i <= 100; i++) await update(address(1), { block: 2, from: 0, to: i, logIndex: i });
    await update(address(2), { block: 3, from: 1, to: 2 });
    await enqueueUpdates(sql, indexedTo(3));
    await walkRanges(sql, { chainId: CHAIN_ID });
    const next = await claim(10);
    expect(next.filter(({ contract_address }) => contract_address === address(2))).toHaveLength(2);
  });

  test("ranges of however many contracts have their turn one after another", async () => {
    const contracts = Array.from({ length: 50 }, (_, i) => address(100 + i));
    for (const contract of contracts) {
      await mint(sql, { contract, tokens: [1], block: 2 });
      await requestRange(sql, { chainId: CHAIN_ID, contractAddress: contract });
    }
    await enqueueTokens(sql, indexedTo(2));
    await claimAndStoreAll();
    let last: ContractPlace;
    const steps: number[] = [];
    for (let isDone = false; !isDone;) {
      ({ last, isDone } = await walkRanges(sql, { chainId: CHAIN_ID, after: last }));
      for (const { contract_address } of await claim(100))
        if (steps.length < 3) await requestRange(sql, { chainId: CHAIN_ID, contractAddress: contract_address });
      const [row] = await sql<{ count: number }[]>`select count(*)::int as count from offchain.token_range`;
      steps.push(row!.count);
    }
    // The first three steps make due all that they take.
    expect(steps).toEqual([50, 50, 50, 30, 10, 0, 0]);
  });

  test("a range is one row, and its tokens come due some at a time", async () => {
    await update(address(1), { block: 2, from: 0, to: Number.MAX_SAFE_INTEGER });
    await enqueueUpdates(sql, indexedTo(2));
    expect(await sql`select from offchain.token_range`).toHaveLength(1);
    await walkRanges(sql, { chainId: CHAIN_ID });
    const [row] = await sql`select count(*)::int as count from offchain.token_metadata where turn is not null`;
    expect(row).toEqual({ count: 1000 });
    await walkAll();
    expect(idsOf(await claim(9999))).toHaveLength(2500);
    expect(await sql`select from offchain.token_range`).toHaveLength(0);
  });

  test("a range doesn't hold up another contract's", async () => {
    await requestRange(sql, { chainId: CHAIN_ID, contractAddress: address(1) });
    await requestRange(sql, { chainId: CHAIN_ID, contractAddress: address(2) });
    await walkRanges(sql, { chainId: CHAIN_ID });
    const tokens = await claim(6);
    expect(tokens.filter(({ contract_address }) => contract_address === address(2))).toHaveLength(2);
  });

  test("a large range doesn't hold up a small one of the same contract", async () => {
    await requestRange(sql, { chainId: CHAIN_ID, contractAddress: address(1) });
    await requestRange(sql, { chainId: CHAIN_ID, contractAddress: address(1), from: "2400", to: "2401" });
    for (let step = 0; step < 2; step++) await walkRanges(sql, { chainId: CHAIN_ID });
    expect(idsOf(await claim(9999))).toEqual([...Array.from({ length: 1000 }, (_, i) => i), 2400, 2401]);
  });

  test("a range that is asked for again and again is walked to its end all the same", async () => {
    for (let i = 0; i < 10; i++) {
      await requestRange(sql, { chainId: CHAIN_ID, contractAddress: address(1) });
      await walkRanges(sql, { chainId: CHAIN_ID });
    }
    await walkAll();
    expect(await claim(9999)).toHaveLength(2500);
  });

  test.each([
    ["by its contract", (block: number) => update(address(1), { block, from: 0, to: 2499 })],
    ["by somebody", () => requestRange(sql, { chainId: CHAIN_ID, contractAddress: address(1), from: "0", to: "2499" })],
  ])("a range that is named again %s while it is walked is walked anew, once", async (_, ask) => {
    await ask(2);
    await enqueueUpdates(sql, indexedTo(2));
    await walkRanges(sql, { chainId: CHAIN_ID });
    await claimAndStoreAll();
    await ask(3);
    await enqueueUpdates(sql, indexedTo(3));
    await walkAll();
    const tokens = await claim(9999);
    expect(idsOf(tokens)).toHaveLength(2500);
    expect(await sql`select from offchain.token_range`).toHaveLength(0);
  });

  test("a range that somebody asks for, and its contract then names, has changed", async () => {
    await requestRange(sql, { chainId: CHAIN_ID, contractAddress: address(2), from: "1", to: "2" });
    await update(address(2), { block: 2, from: 1, to: 2 });
    await enqueueUpdates(sql, indexedTo(2));
    await walkAll();
    expect(await sql`select token_id from offchain.token_metadata where is_update_unseen order by token_id`).toEqual([
      { token_id: "1" },
      { token_id: "2" },
    ]);
  });

  test("a contract's own update makes its document due", async () => {
    await sql`update offchain.contract_metadata set uri_due_at = null`;
    await update(address(2), { block: 2 });
    await enqueueUpdates(sql, indexedTo(2));
    const due =
      await sql`select encode(contract_address, 'hex') as address from offchain.contract_metadata where uri_due_at <= now()`;
    expect(due).toEqual([{ address: address(2).slice(2) }]);
  });

  test("a contract's own update and those of its tokens are taken up together", async () => {
    await sql`update offchain.contract_metadata set uri_due_at = null`;
    await update(address(2), { block: 2 });
    await update(address(2), { block: 2, from: 1, to: 1, logIndex: 1 });
    await update(address(2), { block: 2, from: 1, to: 2, logIndex: 2 });
    expect(await enqueueUpdates(sql, indexedTo(2))).toEqual({ count: 3, isDone: true });
    expect(
      await sql`select is_uri_update_unseen as is_unseen from offchain.contract_metadata where uri_due_at <= now()`,
    ).toEqual([{ is_unseen: true }]);
    expect(idsOf(await claim(10))).toEqual([1]);
    await walkAll();
    expect(idsOf(await claim(10))).toEqual([1, 2]);
  });
});

describe("whoever waits for a row", () => {
  const hold = async (query: (tx: Sql | TransactionSql) => Promise<unknown>) => {
    const held = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const transaction = sql.begin(async (tx) => {
      await query(tx);
      held.resolve();
      await end.promise;
    });
    await held.promise;
    return async () => {
      end.resolve();
      await transaction;
    };
  };
  const isWaiting = async () => (await countWaiting(sql)) > 0;
  const lockToken = (contract: Hex, id: number) => (tx: Sql | TransactionSql) =>
    tx`
    select token_id::int as id
    from offchain.token_metadata
    where
      contract_address = ${toBytes(contract)}
      and token_id = ${id}
    for update nowait
  `;

  beforeEach(async () => {
    await mint(sql, { contract: address(1), tokens: [2, 10], block: 1 });
    await mint(sql, { contract: address(2), tokens: [1], block: 1 });
    await enqueueContracts(sql, indexedTo(1));
    await enqueueTokens(sql, indexedTo(1));
  });

  test.each([
    ["to store tokens", (tokens: ClaimedToken[]) => storeAll(tokens)],
    ["to renew claims", (tokens: ClaimedToken[]) => renewClaims(sql, { chainId: CHAIN_ID, tokens })],
  ])("%s holds none that comes later in the order of all", async (_, action) => {
    const tokens = await claim(3);
    // With few rows Postgres reads all of them, with many it uses their keys.
    await sql`
      insert into offchain.token_metadata (chain_id, contract_address, token_id)
      select ${CHAIN_ID}, ${toBytes(address(3))}, generate_series(1, 20000)
    `;
    await sql`analyze offchain.token_metadata`;
    const letGo = await hold(lockToken(address(1), 2));
    const done = action(tokens.toSorted((a, b) => Number(b.token_id) - Number(a.token_id)));
    await expect.poll(isWaiting).toBe(true);
    expect(await lockToken(address(1), 10)(sql)).toEqual([{ id: 10 }]);
    expect(await lockToken(address(2), 1)(sql)).toEqual([{ id: 1 }]);
    await letGo();
    await done;
  });

  test("of a range holds no other contract", async () => {
    await claimAndStoreAll();
    for (const contractAddress of [address(1), address(2)])
      await requestRange(sql, { chainId: CHAIN_ID, contractAddress });
    const letGo = await hold(lockToken(address(2), 1));
    const done = walkRanges(sql, { chainId: CHAIN_ID });
    await expect.poll(isWaiting).toBe(true);
    expect(
      await sql`
        select
        from offchain.contract_metadata
        where contract_address = ${toBytes(address(1))}
        for update nowait
      `,
    ).toHaveLength(1);
    await letGo();
    await done;
  });

  test("of a token that is asked for while it comes into the queue counts it once", async () => {
    await mint(sql, { contract: address(3), tokens: [1, 2], block: 2 });
    const letGo = await hold(
      (tx) => tx`
        insert into offchain.token_metadata (chain_id, contract_address, token_id, refresh_requested_at)
        values (${CHAIN_ID}, ${toBytes(address(3))}, 1, now())
      `,
    );
    const done = enqueueTokens(sql, indexedTo(2));
    await expect.poll(isWaiting).toBe(true);
    await letGo();
    await done;
    await claimAndStoreAll();
    const [row] = await sql`
      select
        sum(tokens)::int as tokens,
        sum(fetched)::int as fetched
      from offchain.metadata_count
    `;
    expect(row).toEqual({ tokens: 5, fetched: 5 });
  });

  test("is never one who stores: what a locked contract's document says is remembered with the next", async () => {
    const tokens = (await claim(3)).filter(({ contract_address }) => contract_address === address(1));
    await sql`update offchain.contract_metadata set id_form = 'decimal'`;
    const memory = () => sql`
      select uri_function, id_form
      from offchain.contract_metadata
      where contract_address = ${toBytes(address(1))}
    `;
    const letGo = await hold((tx) => tx`select from offchain.contract_metadata for update`);
    await storeAll([tokens[0]!], { uriFunction: "uri" });
    expect(await memory()).toEqual([{ uri_function: null, id_form: "decimal" }]);
    await letGo();
    await storeAll([tokens[1]!], { uriFunction: "uri" });
    expect(await memory()).toEqual([{ uri_function: "uri", id_form: "decimal" }]);
  });
});

test.each([
  ["", "0 seconds"],
  [", also where blocks of before are looked at again", "61 seconds"],
])("a token whose URI reverted comes back when something happens to it on chain%s", async (_, sinceRecheck) => {
  await mint(sql, { contract: address(1), tokens: [1], block: 1 });
  await enqueueTokens(sql, indexedTo(1));
  for (let attempt = 1; attempt <= 5; attempt++) {
    const tokens = await claim(1, 1);
    expect(tokens).toHaveLength(1);
    const outcomes = tokens.map((token) => ({
      token,
      uri: undefined,
      result: failure("revert", "no"),
    }));
    await storeTokens(sql, { chainId: CHAIN_ID, outcomes });
    await sql`update offchain.token_metadata set due_at = now() where due_at is not null`;
  }
  expect(await claim(1, 1)).toEqual([]);
  // What is known already isn't new, even if another deployment has it.
  await enqueueTokens(sql, indexedTo(1, "b"));
  expect(await claim(1, 1)).toEqual([]);
  await sql`update offchain.token_watermark set rechecked_at = now() - ${sinceRecheck}::interval`;
  await enqueueTokens(sql, indexedTo(2, "b"));
  expect(await claim(1, 1)).toEqual([]);
  await mint(sql, { contract: address(1), tokens: [1], block: 3 });
  await sql`update offchain.token_watermark set rechecked_at = now() - ${sinceRecheck}::interval`;
  await enqueueTokens(sql, indexedTo(3, "b"));
  expect(await claim(1, 1)).toHaveLength(1);
  // While it is being read, nobody else gets it.
  await mint(sql, { contract: address(1), tokens: [1], block: 4 });
  await enqueueTokens(sql, indexedTo(4, "b"));
  expect(await claim(1, 1)).toEqual([]);
});

test("a token whose URI reverted comes back, too, when something happens to it just as a new deployment is published", async () => {
  await mint(sql, { contract: address(1), tokens: [1, 2], block: 5 });
  await enqueueTokens(sql, indexedTo(5, "a"));
  await storeFailed(await claim(2), failure("revert", "no"));
  await sql`update offchain.token_metadata set due_at = null, attempts = 5`;
  await mint(sql, { contract: address(1), tokens: [2], block: 6 });
  await enqueueTokens(sql, indexedTo(6, "b"));
  expect(idsOf(await claim(2, 2))).toEqual([2]);
});

test.each([4, 5])("one that is minted anew after it reverted %i times is asked as a new one", async (reverts) => {
  const revertAll = async () => {
    const tokens = await claim(1, 1);
    expect(tokens).toHaveLength(1);
    await storeFailed(tokens, failure("revert", "no"));
  };
  const makeDue = () => sql`update offchain.token_metadata set due_at = now() where due_at is not null`;
  await mint(sql, { contract: address(1), tokens: [1], block: 1 });
  await enqueueTokens(sql, indexedTo(1));
  for (let attempt = 1; attempt <= reverts; attempt++) {
    await makeDue();
    await revertAll();
  }
  await mint(sql, { contract: address(1), tokens: [1], block: 3 });
  await enqueueTokens(sql, indexedTo(3));
  // The worker's node may not have that block yet, and that several times.
  for (let attempt = 1; attempt <= 4; attempt++) {
    await revertAll();
    await makeDue();
  }
  expect(await claim(1, 1)).toHaveLength(1);
});

test("a document whose write is cut off isn't said to be what can't be stored", async () => {
  await mint(sql, { contract: address(1), tokens: [1], block: 1 });
  await enqueueTokens(sql, indexedTo(1));
  const tokens = await claim(1);
  const locked = Promise.withResolvers<void>();
  const letGo = Promise.withResolvers<void>();
  const holder = sql.begin(async (tx) => {
    await tx`select from offchain.token_metadata for update`;
    locked.resolve();
    await letGo.promise;
  });
  await locked.promise;
  const stored = storeAll(tokens).then(
    () => "stored",
    () => "refused",
  );
  await expect.poll(() => countWaiting(sql)).toBe(1);
  // As Postgres ends sessions at a restart.
  await sql`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'
  `;
  letGo.resolve();
  await holder;
  expect(await stored).toBe("refused");
  expect(await sql`select error_code from offchain.token_metadata`).toEqual([{ error_code: null }]);
});

test("a token is tried again when its origin asks for it, and tokens that failed together don't come back together", async () => {
  const tokenIds = Array.from({ length: 20 }, (_, i) => i);
  await mint(sql, { contract: address(1), tokens: tokenIds, block: 1 });
  await enqueueTokens(sql, indexedTo(1));
  const later = (retryAfterSeconds: number) =>
    failure("http_503", "Later.", { host: "one.example", retryAfterSeconds });
  const [first, ...others] = await claim(20);
  await storeFailed([first!], later(5000));
  // A token isn't tried before its own pause ends.
  await storeFailed(others, later(5));
  const rows = await sql<{ token_id: string; seconds: number }[]>`
    select token_id, extract(epoch from due_at - attempted_at)::float8 as seconds
    from offchain.token_metadata
  `;
  const secondsOf = (token: ClaimedToken) => rows.find(({ token_id }) => token_id === token.token_id)!.seconds;
  expect(secondsOf(first!)).toBeGreaterThanOrEqual(5000);
  const pauses = others.map(secondsOf);
  expect(Math.min(...pauses)).toBeGreaterThan(53);
  expect(Math.max(...pauses) - Math.min(...pauses)).toBeGreaterThan(0.5);
});

test("media that failed are due as before where a fetch fails, and anew where a document comes", async () => {
  await mint(sql, { contract: address(1), tokens: [1], block: 1 });
  await enqueueTokens(sql, indexedTo(1));
  await storeAll(await claim(1));
  const failed = { media_attempts: 5, media_error_code: "http_404", media_error_host: "one.example", is_due: true };
  await sql`
    update offchain.token_metadata
    set
      media_attempts = 5,
      media_error_code = 'http_404',
      media_error_host = 'one.example',
      media_due_at = now()
  `;
  const state = async () => {
    const [row] = await sql`
      select media_attempts, media_error_code, media_error_host, media_due_at is not null as is_due
      from offchain.token_metadata
    `;
    return row;
  };
  await storeFailed(await claimDue(), failure("http_500", "No."));
  expect(await state()).toEqual(failed);
  await storeAll(await claimDue());
  expect(await state()).toEqual({
    media_attempts: 0,
    media_error_code: null,
    media_error_host: null,
    is_due: false,
  });
});

test("what URIs and messages have in them is stored, but for what Postgres doesn't take, and messages are cut", async () => {
  await mint(sql, { contract: address(1), tokens: [1, 2, 3, 4], block: 1 });
  await enqueueTokens(sql, indexedTo(1));
  const [last, ...tokens] = await claim(4);
  const uris = ["\u0003", "\u001e\u001f", "a\0b"];
  const result = failure("revert", "a\0b".repeat(200));
  const outcomes = tokens.map((token, i) => ({ token, uri: uris[i], result }));
  await storeTokens(sql, { chainId: CHAIN_ID, outcomes });
  await storeTokens(sql, { chainId: CHAIN_ID, outcomes: [{ token: last!, uri: "u", result }] });
  const rows = await sql`
    select token_uri, error_message, error_host from offchain.token_metadata order by token_id
  `;
  const error = { error_message: "ab".repeat(150), error_host: "" };
  expect(rows).toEqual(["u", "\u0003", "\u001e\u001f", "ab"].map((token_uri) => ({ token_uri, ...error })));
});

test("an empty document never takes the place of a good one", async () => {
  await mint(sql, { contract: address(1), tokens: [1], block: 1 });
  await enqueueTokens(sql, indexedTo(1));
  await storeAll(await claim(1), { name: "good" });
  await sql`update offchain.token_metadata set refresh_requested_at = now()`;
  await storeAll(await claim(1), { name: "" });
  const [row] =
    await sql`select normalized::json ->> 'name' as name, error_code, counted_as, due_at > now() as is_due from offchain.token_metadata`;
  expect(row).toEqual({ name: "good", error_code: "empty_document", counted_as: "stale", is_due: true });
});

test("an empty document after a mint is looked at again four times", async () => {
  await mint(sql, { contract: address(1), tokens: [1], block: 1 });
  await enqueueTokens(sql, indexedTo(1));
  const pauses: (number | null)[] = [];
  for (let attempt = 1; attempt <= 5; attempt++) {
    const tokens = await claim(1, 1);
    await storeAll(tokens, { name: "" });
    const [row] = await sql<
      { seconds: number | null }[]
    >`select round(extract(epoch from due_at - now()))::float8 as seconds from offchain.token_metadata`;
    pauses.push(row!.seconds);
    await sql`update offchain.token_metadata set due_at = now() where due_at is not null`;
  }
  expect(
    pauses.map(
      (pause, i) =>
        pause !== null && pause <= [60, 600, 3600, 86_400][i]! && pause >= [60, 600, 3600, 86_400][i]! * 0.89,
    ),
  ).toEqual([true, true, true, true, false]);
  expect(pauses.at(-1)).toBeNull();
});

test("a claim of the head of a long queue reads only what it takes", async () => {
  await sql`
    insert into offchain.token_metadata (chain_id, contract_address, token_id, turn, due_at)
    select ${CHAIN_ID}, ${toBytes(address(1))}, i, case when i % 2 = 0 then i end, now()
    from generate_series(1, 20000) i
  `;
  await sql`analyze offchain.token_metadata`;
  const postponed = await sql`
    explain (format json)
    select ctid
    from offchain.token_metadata
    where
      chain_id = ${CHAIN_ID}
      and turn is null
      and refresh_requested_at is not null
      and awaiting_metadata_update
      and due_at <= now()
    order by due_at
    limit 100
    for update skip locked
  `;
  expect(JSON.stringify(postponed)).toContain("token_metadata_refresh_due");
  const plan = await sql`
    explain (format json)
    select contract_address, token_id
    from offchain.token_metadata
    where
      chain_id = ${CHAIN_ID}
      and turn is not null
    order by turn
    limit 100
    for update skip locked
  `;
  const text = JSON.stringify(plan);
  expect(text).toContain("token_metadata_ready");
  expect(text).not.toContain("Sort");
});

test("known tokens of new blocks are looked up, though statistics are from when there were few", async () => {
  const one = createPool(database.url, { max: 1 });
  const add = (from: number, to: number) =>
    one.unsafe(`
      insert into onchain_mainnet.token_event
        (block_number, log_index, batch_index, timestamp, event_type, contract_address, token_id, from_address,
         to_address, quantity, transaction_hash)
      select i, 0, 0, i, 'transfer', '\\x01', i, '\\x01', '\\x02', 1, '\\x03'
      from generate_series(${from}, ${to}) as i;
      insert into offchain.token_metadata (chain_id, contract_address, token_id)
      select ${CHAIN_ID}, '\\x01', i
      from generate_series(${from}, ${to}) as i
    `);
  const countRead = async () => {
    await one`select pg_stat_force_next_flush()`;
    const [row] = await one<{ rows: number }[]>`
      select (seq_tup_read + idx_tup_fetch)::float8 as rows
      from pg_stat_user_tables
      where relname = 'token_metadata'
    `;
    return row!.rows;
  };
  const tables = ["onchain_mainnet.token_event", "offchain.token_metadata"];
  for (const table of tables) await one.unsafe(`alter table ${table} set (autovacuum_enabled = false)`);
  await add(1, 100);
  await one.unsafe(`analyze ${tables.join(", ")}`);
  await add(101, 20_000);
  const before = await countRead();
  await enqueueTokens(one, indexedTo(500));
  expect((await countRead()) - before).toBeLessThan(2000);
  for (const table of tables) await one.unsafe(`alter table ${table} reset (autovacuum_enabled)`);
  await one.end();
});

test("thousands of new tokens aren't compared each with each, though statistics are from when there were few", async () => {
  const count = 5000;
  await sql`alter table onchain_mainnet.token_event set (autovacuum_enabled = false)`;
  await mint(sql, { contract: address(1), tokens: [count], block: 1 });
  await sql`analyze onchain_mainnet.token_event`;
  await mint(sql, { contract: address(1), tokens: Array.from({ length: count }, (_, i) => i), block: 10 });
  await enqueueTokens(sql, indexedTo(1));
  const rows = await countRowsRead(database.url, async (one) => {
    expect(await enqueueTokens(one, indexedTo(10))).toEqual({ isDone: true });
  });
  expect(rows).toBeGreaterThan(5 * count);
  expect(rows).toBeLessThan(50 * count);
  expect(await claim(2 * count)).toHaveLength(count + 1);
  await sql`alter table onchain_mainnet.token_event reset (autovacuum_enabled)`;
});
