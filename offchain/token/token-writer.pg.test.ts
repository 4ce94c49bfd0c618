import { setTimeout as sleep } from "node:timers/promises";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { countWaiting, createMigratedDatabase, type TestDatabase } from "../../test/database.ts";
import { address, CHAIN_ID, indexedTo, mint } from "../../test/tokens.ts";
import { emptyNormalized } from "../document/normalize.ts";
import { toStoredDocument } from "../document/stored-document.ts";
import { claimTokens } from "./token-queue.ts";
import { enqueueTokens } from "./token-watermark.ts";
import { createTokenWriter } from "./token-writer.ts";

let database: TestDatabase;
let sql: Sql;

beforeAll(async () => {
  database = await createMigratedDatabase();
  sql = postgres(database.url, { max: 12, onnotice: () => {} });
});

afterAll(async () => {
  await sql.end();
  await database.drop();
});

test("three writes are under way at most, however slow Postgres is, and what comes meanwhile is written after them", async () => {
  await mint(sql, { contract: address(1), tokens: Array.from({ length: 10 }, (_, id) => id), block: 1 });
  await enqueueTokens(sql, indexedTo(1));
  const tokens = await claimTokens(sql, { network: "mainnet", chainId: CHAIN_ID, ready: 10, due: 0 });
  const inFlight = new Set(tokens);
  const writer = createTokenWriter(sql, { chainId: CHAIN_ID, inFlight });
  const result = toStoredDocument({ kind: "document", raw: "{}", whole: emptyNormalized(), from: "data" });
  await sql.begin(async (tx) => {
    await tx`lock table offchain.token_metadata in exclusive mode`;
    for (const token of tokens) {
      writer.add({ token, uri: "u", result });
      // Longer than what comes together is waited for.
      await sleep(70);
    }
    expect(await countWaiting(sql)).toBe(3);
  });
  await expect.poll(() => inFlight.size).toBe(0);
  // Or a worker would wait for ever, some time, for room.
  expect(writer.size()).toBe(0);
  expect(await sql`select from offchain.token_metadata where not awaiting_metadata_update`).toHaveLength(10);
});

test("what comes once it is closed is nobody's: it was given back", async () => {
  await mint(sql, { contract: address(2), tokens: [1, 2], block: 2 });
  await enqueueTokens(sql, indexedTo(2));
  const tokens = await claimTokens(sql, { network: "mainnet", chainId: CHAIN_ID, ready: 2, due: 0 });
  const writer = createTokenWriter(sql, { chainId: CHAIN_ID, inFlight: new Set(tokens) });
  const result = toStoredDocument({ kind: "document", raw: "{}", whole: emptyNormalized(), from: "data" });
  writer.close();
  writer.add({ token: tokens[0]!, uri: "u", result });
  writer.postpone(tokens[1]!, { seconds: 0, host: "one.example" });
  await writer.flush();
  const rows = await sql`
    select stored_claim, attempts
    from offchain.token_metadata
    where contract_address = ${Buffer.from(address(2).slice(2), "hex")}
  `;
  expect(rows).toEqual([
    { stored_claim: 0, attempts: 1 },
    { stored_claim: 0, attempts: 1 },
  ]);
});
