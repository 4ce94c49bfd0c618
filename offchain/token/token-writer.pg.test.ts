import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { toBytes } from "../bytea.ts";
import { countWaiting, createReadableDatabase, useDatabase } from "../../test/database.ts";
import { address, CHAIN_ID, indexedTo, mint } from "../../test/tokens.ts";
import { emptyNormalized } from "../document/normalize.ts";
import { toStoredDocument } from "../document/stored-document.ts";
import { failure } from "../fetch/failure.ts";
import { claimTokens } from "./token-queue.ts";
import { enqueueTokens } from "./token-watermark.ts";
import { createTokenWriter } from "./token-writer.ts";

const { sql } = await useDatabase(createReadableDatabase, { max: 12 });

test("three writes are under way at most, however slow Postgres is, and what comes meanwhile is written after them", async () => {
  await mint(sql, { contract: address(1), tokens: Array.from({ length: 10 }, (_, id) => id), block: 1 });
  await enqueueTokens(sql, indexedTo(1));
  const tokens = await claimTokens(sql, { network: "mainnet", chainId: CHAIN_ID, ready: 10, due: 0 });
  const inFlight = new Set(tokens);
  const writer = createTokenWriter(sql, { chainId: CHAIN_ID, inFlight });
  const result = toStoredDocument(
    { kind: "document", raw: "{}", whole: emptyNormalized(), from: "data" },
    { chainId: CHAIN_ID },
  );
  await sql.begin(async (tx) => {
    await tx`lock table offchain.token_metadata in exclusive mode`;
    for (const token of tokens) {
      writer.add({ token, uri: "u", result });
      // Longer than the writer waits for further outcomes.
      await sleep(70);
    }
    expect(await countWaiting(sql)).toBe(3);
  });
  await expect.poll(() => inFlight.size).toBe(0);
  // Otherwise a worker would some day wait for room for ever.
  expect(writer.size()).toBe(0);
  expect(await sql`select from offchain.token_metadata where not awaiting_metadata_update`).toHaveLength(10);
});

test("what comes once it is closed is nobody's: it was given back", async () => {
  await mint(sql, { contract: address(2), tokens: [1, 2], block: 2 });
  await enqueueTokens(sql, indexedTo(2));
  const tokens = await claimTokens(sql, { network: "mainnet", chainId: CHAIN_ID, ready: 2, due: 0 });
  const writer = createTokenWriter(sql, { chainId: CHAIN_ID, inFlight: new Set(tokens) });
  const result = toStoredDocument(
    { kind: "document", raw: "{}", whole: emptyNormalized(), from: "data" },
    { chainId: CHAIN_ID },
  );
  writer.close();
  writer.add({ token: tokens[0]!, uri: "u", result });
  writer.postpone(tokens[1]!, { seconds: 0, host: "one.example" });
  await writer.flush();
  const rows = await sql`
    select stored_claim, attempts
    from offchain.token_metadata
    where contract_address = ${toBytes(address(2))}
  `;
  expect(rows).toEqual([
    { stored_claim: 0, attempts: 1 },
    { stored_claim: 0, attempts: 1 },
  ]);
});

test("a failure that can't be written stands in nobody's way", async () => {
  await mint(sql, { contract: address(3), tokens: [1, 2, 3], block: 3 });
  await enqueueTokens(sql, indexedTo(3));
  const tokens = await claimTokens(sql, { network: "mainnet", chainId: CHAIN_ID, ready: 3, due: 0 });
  const said = vi.spyOn(console, "error").mockReturnValue();
  const writer = createTokenWriter(sql, { chainId: CHAIN_ID, inFlight: new Set(tokens) });
  // Too long for an index.
  const host = Array.from({ length: 100 }, (_, i) => createHash("sha256").update(`${i}`).digest("hex")).join(".");
  const result = toStoredDocument(
    { kind: "document", raw: "{}", whole: emptyNormalized(), from: "data" },
    { chainId: CHAIN_ID },
  );
  writer.add({ token: tokens[0]!, uri: "u", result: failure("dns", "", { host }) });
  for (const token of tokens.slice(1)) writer.add({ token, uri: "u", result });
  await writer.flush();
  expect(said).toHaveBeenCalledWith(expect.stringMatching(/^worker: can't store metadata: index row size/));
  said.mockRestore();
  const rows = await sql`
    select token_id, awaiting_metadata_update as is_awaited
    from offchain.token_metadata
    where contract_address = ${toBytes(address(3))}
    order by token_id
  `;
  expect(rows).toEqual([
    { token_id: "1", is_awaited: true },
    { token_id: "2", is_awaited: false },
    { token_id: "3", is_awaited: false },
  ]);
});

test("long documents are written some at a time, each once", async () => {
  const ids = Array.from({ length: 150 }, (_, id) => id);
  await mint(sql, { contract: address(4), tokens: ids, block: 4 });
  await enqueueTokens(sql, indexedTo(4));
  const tokens = await claimTokens(sql, { network: "mainnet", chainId: CHAIN_ID, ready: ids.length, due: 0 });
  const writes: string[][] = [];
  const writer = createTokenWriter(sql, {
    chainId: CHAIN_ID,
    inFlight: new Set(tokens),
    onStored: (outcomes) => void writes.push(outcomes.map(({ token }) => token.token_id)),
  });
  const description = "x".repeat(3000);
  const whole = { ...emptyNormalized(), description };
  const result = toStoredDocument(
    { kind: "document", raw: JSON.stringify({ description }), whole, from: "data" },
    { chainId: CHAIN_ID },
  );
  for (const token of tokens) writer.add({ token, uri: "u", result });
  await writer.flush();
  expect(writes.flat().toSorted((a, b) => Number(a) - Number(b))).toEqual(ids.map(String));
  // 200 kB at once, with some 6.3 kB each.
  expect(Math.max(...writes.map(({ length }) => length))).toBeLessThan(40);
  expect(await sql`select from offchain.token_metadata where raw_json like '%xxx%'`).toHaveLength(ids.length);
});
