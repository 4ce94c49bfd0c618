import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toBytes } from "../../offchain/bytea.ts";
import {
  addressOf,
  type Body,
  createTestApi,
  hashOf,
  hexOf,
  inserter,
  MAINNET_ID,
  type Row,
  type TestApi,
  TEST_KEY,
  ZERO,
} from "../../test/api.ts";
import {
  ALICE,
  APES,
  BOB,
  COINS,
  EMPTY,
  ITEMS,
  MAX_ID,
  NORMALIZED,
  PUNKS,
  RAW,
  seed,
  TEST_APES,
} from "../../test/seed.ts";
import { enqueueTokens } from "../../offchain/token/token-watermark.ts";
import { settleTokens } from "../../offchain/token/unsettled-token.ts";
import { EMPTY_NORMALIZED } from "./metadata.ts";

let t: TestApi;

beforeAll(async () => {
  t = await createTestApi();
  await seed(t.sql);
});
afterAll(() => t.stop());

const apes1 = {
  contract_address: APES,
  token_id: "1",
  token_id_hex: hexOf(1),
  owner: ALICE,
  mint_info: { address: BOB, timestamp: 1_600_000_005, transaction_hash: hashOf(0x55) },
  metadata: { normalized: JSON.parse(NORMALIZED) as object, raw: RAW, metadata_updated_at: 1_700_000_000 },
  type: "ERC721",
};

describe("contracts", () => {
  const contracts = [
    { contract_address: PUNKS, contract_type: "CRYPTOPUNKS", name: "PUNKS", symbol: "C", image: null },
    { contract_address: ITEMS, contract_type: "ERC1155", name: "", symbol: "", image: null },
    { contract_address: APES, contract_type: "ERC721", name: "Apes", symbol: "APE", image: "ipfs://apes.png" },
  ];

  test("are listed first seen first, without fungible ones", async () => {
    expect(await t.get("/v1/contracts")).toMatchObject({ status: 200, body: { cursor: null, result: contracts } });
  });

  test("are paged without an empty page at the end", async () => {
    const first = await t.get("/v1/contracts?limit=2");
    expect(first.body).toEqual({ cursor: expect.stringMatching(/^[\w-]+$/) as string, result: contracts.slice(0, 2) });
    const second = await t.get(`/v1/contracts?limit=2&cursor=${first.body.cursor}`);
    expect(second.body).toEqual({ cursor: null, result: contracts.slice(2) });
    expect((await t.get("/v1/contracts?limit=3")).body.cursor).toBeNull();
  });

  test("are found one by one, in any case, with a cursor that is null", async () => {
    const answer = await t.get(`/v1/contracts/${APES.toUpperCase().replace("X", "x")}`);
    expect(answer.body).toEqual({ result: contracts[2], cursor: null });
    expect((await t.get(`/v1/contracts/${addressOf(99)}`)).status).toBe(404);
    expect((await t.get(`/v1/contracts/${COINS}`)).status).toBe(404);
  });
});

describe("tokens", () => {
  test("of a contract come by ascending number", async () => {
    const { body } = await t.get(`/v1/tokens/${APES}`);
    expect(body.cursor).toBeNull();
    expect(body.result.map((token) => [token.token_id, token.owner])).toEqual([
      ["1", ALICE],
      ["2", ZERO],
      ["10", BOB],
      [MAX_ID.toString(), ALICE],
    ]);
    expect(body.result[0]).toEqual(apes1);
    expect(body.result[2]?.mint_info).toEqual({ address: null, timestamp: null, transaction_hash: null });
    expect(body.result[3]?.token_id_hex).toBe(`0x${"f".repeat(64)}`);
    expect(body.result[3]?.metadata).toEqual({ normalized: EMPTY, raw: "", metadata_updated_at: null });
  });

  test("of an unknown or hidden contract are 404", async () => {
    expect((await t.get(`/v1/tokens/${addressOf(99)}`)).status).toBe(404);
    expect((await t.get(`/v1/tokens/${COINS}`)).status).toBe(404);
    expect((await t.get(`/v1/tokens/${COINS}/1`)).status).toBe(404);
    expect((await t.get(`/v1/tokens/${APES}/3`)).status).toBe(404);
  });

  test("are filtered by repeated tokens_ids of any form", async () => {
    const path = `/v1/tokens/${APES}?tokens_ids=0x0a&tokens_ids=${hexOf(1)}&tokens_ids=01&tokens_ids=999`;
    const { body } = await t.get(path);
    expect(body.result.map((token) => token.token_id)).toEqual(["1", "10"]);
    const page = await t.get(`${path}&limit=1`);
    expect((await t.get(`${path}&limit=1&cursor=${page.body.cursor}`)).body.result[0]?.token_id).toBe("10");
    // A cursor belongs to the tokens, and not to how they are written.
    const same = `/v1/tokens/${APES}?tokens_ids=999&tokens_ids=10&tokens_ids=1&tokens_ids=10`;
    expect((await t.get(`${same}&cursor=${page.body.cursor}`)).body.result[0]?.token_id).toBe("10");
    expect((await t.get(`/v1/tokens/${APES}?cursor=${page.body.cursor}`)).status).toBe(400);
    expect((await t.get(`/v1/tokens/${APES}?tokens_ids=999`)).body).toEqual({ cursor: null, result: [] });
    // As axios, jQuery and PHP write a list.
    for (const query of ["tokens_ids[]=999&tokens_ids[]=10&tokens_ids[]=1", "tokens_ids[0]=10&tokens_ids%5B1%5D=1"])
      expect((await t.get(`/v1/tokens/${APES}?${query}`)).body).toEqual(body);
    expect((await t.get(`/v1/tokens/${APES}?tokens_ids=1,10`)).body).toMatchObject({
      message: 'tokens_ids "1,10" is invalid. Expected the parameter repeated for each id: tokens_ids=1&tokens_ids=2.',
    });
    const many = Array.from({ length: 251 }, (_, id) => `tokens_ids=${id}`);
    expect((await t.get(`/v1/tokens/${APES}?${many.join("&")}`)).status).toBe(400);
    expect((await t.get(`/v1/tokens/${APES}?${many.slice(1).join("&")}`)).body.result).toHaveLength(3);
  });

  test.each(["1", "01", "0x1", "0x01", hexOf(1)])("are found by id %s", async (id) => {
    expect((await t.get(`/v1/tokens/${APES}/${id}`)).body).toEqual({ result: apes1 });
  });

  test.each([MAX_ID.toString(), hexOf(MAX_ID)])("are found by the greatest id there is: %s", async (id) => {
    expect((await t.get(`/v1/tokens/${APES}/${id}`)).body.result).toMatchObject({ token_id: MAX_ID.toString() });
  });

  test.each([
    "",
    "x",
    "1.5",
    "-1",
    "1e3",
    "0x",
    "0xg",
    `0x0${"f".repeat(64)}`,
    `${2n ** 256n}`,
    "9".repeat(5000),
    "%00",
  ])("by id %j are 400 or nothing", async (id) => {
    expect((await t.get(`/v1/tokens/${APES}/${id}`)).status).toBe(id === "" ? 404 : 400);
  });

  test("of ERC-1155 have the owner that received last and still holds", async () => {
    const { body } = await t.get(`/v1/tokens/${ITEMS}`);
    expect(body.result.map((token) => [token.token_id, token.owner, token.type])).toEqual([
      ["7", BOB, "ERC1155"],
      ["8", "", "ERC1155"],
    ]);
  });

  test("of the punks' market keep their type", async () => {
    expect((await t.get(`/v1/tokens/${PUNKS}/0x64`)).body.result.type).toBe("CRYPTOPUNKS");
  });

  test("come in a batch once each, in the order of the request", async () => {
    const { status, body } = await t.post("/v1/tokens/batch", {
      tokens: [
        { contract_address: ITEMS, token_id: "7" },
        { contract_address: APES.toUpperCase().replace("X", "x"), token_id: "0x01" },
        { contract_address: APES, token_id: "3" },
        { contract_address: APES, token_id: "1" },
        { contract_address: COINS, token_id: "1" },
      ],
    });
    expect(status).toBe(200);
    expect(body.result.map((token) => [token.contract_address, token.token_id])).toEqual([
      [ITEMS, "7"],
      [APES, "1"],
    ]);
    expect(body.result[1]).toEqual({
      ...apes1,
      mint_info: { ...apes1.mint_info, block_number: 5 },
      contract_name: "Apes",
      awaiting_metadata_update: false,
    });
    expect(body.result[0]).toMatchObject({ contract_name: "", awaiting_metadata_update: true });
  });

  test("of contracts in turn come right in a batch, and one by one at the same moment", async () => {
    const tokens = [
      [ITEMS, "7"],
      [APES, "1"],
      [ITEMS, "999"],
      [PUNKS, "100"],
      [ITEMS, "8"],
      [COINS, "1"],
      [APES, "10"],
    ] as const;
    const known = [0, 1, 3, 4, 6].map((place) => tokens[place]);
    const { body } = await t.post("/v1/tokens/batch", {
      tokens: tokens.map(([contract_address, token_id]) => ({ contract_address, token_id })),
    });
    expect(body.result.map((token) => [token.contract_address, token.token_id])).toEqual(known);

    const twice = [...tokens, ...tokens];
    const answers = await Promise.all(twice.map(([address, id]) => t.get(`/v1/tokens/${address}/${id}`)));
    expect(answers.map(({ status }) => status)).toEqual(twice.map((token) => (known.includes(token) ? 200 : 404)));
    const found = answers.filter(({ status }) => status === 200).map((answer) => answer.body.result);
    expect(found.map((token) => [token.contract_address, token.token_id])).toEqual([...known, ...known]);
  });

  test.each([
    [undefined, 400],
    [[], 400],
    [{}, 400],
    [{ tokens: [] }, 400],
    [{ tokens: "1" }, 400],
    [{ tokens: [1] }, 400],
    [{ tokens: [{ contract_address: APES }] }, 400],
    [{ tokens: [{ contract_address: APES, token_id: 1 }] }, 400],
    [{ tokens: [{ contract_address: "0x1", token_id: "1" }] }, 400],
    [{ tokens: Array.from({ length: 101 }, () => ({ contract_address: APES, token_id: "1" })) }, 400],
  ])("batch body %# is %i", async (body, status) => {
    const answer = await t.post("/v1/tokens/batch", body);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ type: "invalid_request", message: expect.any(String) as string });
  });

  test("that are far too many for a batch are refused before they are looked at", async () => {
    const { status, body } = await t.post("/v1/tokens/batch", { tokens: Array.from({ length: 300_000 }, () => ({})) });
    // And nothing about what the first item lacks.
    expect([status, body.message]).toEqual([400, "tokens has 300000 items. Expected 1 to 100."]);
  });

  test("of any size come in a batch, in the order of the request, and alone at the same moment", async () => {
    const contract = addressOf(0xb16);
    await inserter(t.sql).contract(contract);
    const sizes = [2_000_000, 10, 5_200_000, 100_000, 5_200_000, 5_200_000];
    for (const [id, size] of sizes.entries()) {
      await inserter(t.sql).token(contract, id);
      await inserter(t.sql).tokenMetadata(contract, id, { raw: "x".repeat(size), normalized: EMPTY_NORMALIZED });
    }
    const key = (id: number) => ({ contract_address: contract, token_id: String(id) });
    const sizesOf = (tokens: Row[]) => tokens.map(({ metadata }) => (metadata as { raw: string }).raw.length);

    const { status, body } = await t.post("/v1/tokens/batch", { tokens: [2, 1, 4, 0, 3, 999].map(key) });
    expect([status, sizesOf(body.result)]).toEqual([200, [5_200_000, 10, 5_200_000, 2_000_000, 100_000]]);

    const all = await t.post("/v1/tokens/batch", { tokens: [0, 1, 2, 3, 4, 5].map(key) });
    expect(all).toMatchObject({
      status: 400,
      body: {
        type: "invalid_request",
        message: expect.stringMatching(
          /^The documents of these tokens have 177\d{5} bytes\. Expected at most 16777216 in a batch\.$/,
        ) as string,
      },
    });

    const alone = await Promise.all(sizes.map((_, id) => t.get(`/v1/tokens/${contract}/${id}`)));
    expect(sizesOf(alone.map((answer) => answer.body.result as unknown as Row))).toEqual(sizes);
  });

  test.each([[4000], [400_000]])("in arrays %i deep are refused", async (depth) => {
    const deep = `{"tokens":[${"[".repeat(depth)}${"]".repeat(depth)}]}`;
    const response = await t.request("/v1/tokens/batch", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: deep,
    });
    expect([response.status, await response.json()]).toEqual([
      400,
      { type: "invalid_request", message: expect.any(String) as string },
    ]);
  });

  test("of some size come in whole batches for several clients at once", async () => {
    const contract = addressOf(0xd0d1);
    await inserter(t.sql).contract(contract);
    const ids = Array.from({ length: 100 }, (_, id) => id);
    for (const id of ids) {
      await inserter(t.sql).token(contract, id);
      await inserter(t.sql).tokenMetadata(contract, id, { raw: "x".repeat(17_000), normalized: EMPTY_NORMALIZED });
    }
    const tokens = ids.map((id) => ({ contract_address: contract, token_id: String(id) }));
    const answers = await Promise.all([1, 2, 3, 4].map(() => t.post("/v1/tokens/batch", { tokens })));
    for (const { status, body } of answers) expect([status, body.result?.length]).toEqual([200, 100]);
  });

  test("come in a batch of 100, whatever else the body says", async () => {
    const tokens = Array.from({ length: 100 }, () => ({ contract_address: APES, token_id: "1" }));
    expect((await t.post("/v1/tokens/batch", { tokens, other: 1 })).body.result).toHaveLength(1);
  });
});

describe("events", () => {
  const ids = (body: Body) => body.result.map((event) => event.event_id);
  const all = [`${hashOf(6)}-3-0`, `${hashOf(6)}-0-1`, `${hashOf(6)}-0-0`, `${hashOf(5)}-2-0`];

  test("of a contract come newest first", async () => {
    const { body } = await t.get(`/v1/events/${APES}`);
    expect(ids(body)).toEqual(all);
    expect(body.result[3]).toEqual({
      contract_address: APES,
      contract_type: "ERC721",
      event_id: `${hashOf(5)}-2-0`,
      event_type: "mint",
      from_address: ZERO,
      to_address: BOB,
      timestamp: 1_600_000_005,
      token_id: "1",
      token_id_hex: hexOf(1),
      transaction_hash: hashOf(5),
      quantity: "1",
      block_number: 5,
      log_index: 2,
    });
    const first = await t.get(`/v1/events/${APES}?limit=3`);
    const second = await t.get(`/v1/events/${APES}?limit=3&cursor=${first.body.cursor}`);
    expect([...ids(first.body), ...ids(second.body)]).toEqual(all);
    expect(second.body.cursor).toBeNull();
  });

  test("of a token are its own", async () => {
    const { body } = await t.get(`/v1/events/${APES}/0x1`);
    expect(ids(body)).toEqual([all[0], all[2], all[3]]);
    const first = await t.get(`/v1/events/${APES}/1?limit=1`);
    expect(ids((await t.get(`/v1/events/${APES}/1?cursor=${first.body.cursor}`)).body)).toEqual([all[2], all[3]]);
    expect((await t.get(`/v1/events/${APES}/2?cursor=${first.body.cursor}`)).status).toBe(400);
    expect((await t.get(`/v1/events/${ITEMS}/7`)).body.result[0]?.quantity).toBe(MAX_ID.toString());
  });

  test("of what is unknown or hidden are 404", async () => {
    for (const path of [addressOf(99), COINS, `${APES}/77`, `${COINS}/1`])
      expect((await t.get(`/v1/events/${path}`)).status).toBe(404);
    // The token exists, but has no event of its own in this test.
    expect((await t.get(`/v1/events/${PUNKS}`)).body).toEqual({ cursor: null, result: [] });
  });
});

describe("owners", () => {
  test("have tokens of both kinds by contract and id", async () => {
    const { body } = await t.get(`/v1/owners/${ALICE}/tokens`);
    expect(body.result.map((token) => [token.contract_address, token.token_id, token.balance])).toEqual([
      [APES, "1", "1"],
      [APES, MAX_ID.toString(), "1"],
      [ITEMS, "7", "5"],
      [PUNKS, "100", "1"],
    ]);
    expect(body.result[0]).toEqual({
      contract_address: APES,
      token_id: "1",
      token_id_hex: hexOf(1),
      owner: ALICE,
      block_number_minted: "5",
      token_uri: "ipfs://ape/1",
      name: "Apes",
      symbol: "APE",
      metadata: RAW,
      normalized_metadata: NORMALIZED,
      last_metadata_refresh: 1_700_000_000,
      minter_address: BOB,
      mint_transaction_hash: hashOf(0x55),
      balance: "1",
    });
    expect(body.result[2]).toMatchObject({
      owner: ALICE,
      metadata: "",
      normalized_metadata: EMPTY_NORMALIZED,
      last_metadata_refresh: null,
      token_uri: "",
    });
  });

  test("are paged over both kinds, each token once", async () => {
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const { body }: { body: Body } = await t.get(
        `/v1/owners/${ALICE}/tokens?limit=1${cursor && `&cursor=${cursor}`}`,
      );
      expect(body.result).toHaveLength(1);
      seen.push(String(body.result[0]?.contract_address));
      cursor = body.cursor;
    }
    expect(seen).toEqual([APES, APES, ITEMS, PUNKS]);
  });

  test("are limited to one contract", async () => {
    const path = `/v1/owners/${ALICE}/tokens?contract_address=${ITEMS}`;
    expect((await t.get(path)).body.result.map((token) => token.token_id)).toEqual(["7"]);
    expect((await t.get(`/v1/owners/${ALICE}/tokens?contract_address=x`)).status).toBe(400);
    const first = await t.get(`/v1/owners/${ALICE}/tokens?limit=1`);
    expect((await t.get(`${path}&cursor=${first.body.cursor}`)).status).toBe(400);
  });

  test("have contracts by address", async () => {
    const { body } = await t.get(`/v1/owners/${ALICE}/contracts`);
    expect(body.result.map((contract) => contract.contract_address)).toEqual([APES, ITEMS, PUNKS]);
    expect(body.result[0]).toEqual({
      contract_address: APES,
      contract_type: "ERC721",
      name: "Apes",
      symbol: "APE",
      image: "ipfs://apes.png",
    });
    const first = await t.get(`/v1/owners/${ALICE}/contracts?limit=2`);
    const second = await t.get(`/v1/owners/${ALICE}/contracts?limit=2&cursor=${first.body.cursor}`);
    expect([...first.body.result, ...second.body.result]).toEqual(body.result);
    expect(second.body.cursor).toBeNull();
  });

  test("have all holdings in groups whose tokens the limit counts", async () => {
    const { body } = await t.get(`/v1/owners/${ALICE}/all`);
    expect(body.result.map((group) => [group.contract_address, (group.items as Row[]).length])).toEqual([
      [APES, 2],
      [ITEMS, 1],
      [PUNKS, 1],
    ]);
    const { contract_address: _, token_id_hex: __, type: ___, ...item } = apes1;
    expect(body.result[0]).toEqual({
      contract_address: APES,
      contract_name: "Apes",
      contract_symbol: "APE",
      contract_image: "ipfs://apes.png",
      items: [
        { ...item, mint_info: { ...apes1.mint_info, block_number: 5 }, awaiting_metadata_update: false },
        expect.objectContaining({ token_id: MAX_ID.toString(), awaiting_metadata_update: true }) as object,
      ],
    });
    const first = await t.get(`/v1/owners/${ALICE}/all?limit=1`);
    expect(first.body.result).toMatchObject([{ contract_address: APES, items: [{ token_id: "1" }] }]);
    const second = await t.get(`/v1/owners/${ALICE}/all?limit=2&cursor=${first.body.cursor}`);
    expect(second.body.result).toMatchObject([
      { contract_address: APES, contract_name: "Apes", items: [{ token_id: MAX_ID.toString() }] },
      { contract_address: ITEMS, items: [{ token_id: "7" }] },
    ]);
  });

  test("that hold nothing have empty lists, the zero address among them", async () => {
    for (const account of [ZERO, addressOf(0xdead), addressOf(0x404)])
      for (const list of ["tokens", "contracts", "all"])
        expect(await t.get(`/v1/owners/${account}/${list}`)).toMatchObject({
          status: 200,
          body: { cursor: null, result: [] },
        });
  });
});

describe("metadata refresh", () => {
  const refresh = (path: string, init: RequestInit = {}) =>
    t.request(`${path}/metadata/refresh`, { method: "POST", ...init });

  test("is queued once in the waiting period, and keeps the metadata that is there", async () => {
    const response = await refresh(`/v1/tokens/${APES}/0x1`, { headers: { "content-type": "application/json" } });
    expect([response.status, await response.json()]).toEqual([200, { result: expect.any(String) as string }]);
    const again = await refresh(`/v1/tokens/${APES}/1`);
    expect(again.status).toBe(429);
    expect(Number(again.headers.get("retry-after"))).toBeGreaterThan(590);
    expect(await again.json()).toMatchObject({ type: "invalid_request" });
    const { body } = await t.post("/v1/tokens/batch", { tokens: [{ contract_address: APES, token_id: "1" }] });
    expect(body.result[0]).toMatchObject({ awaiting_metadata_update: true, metadata: { raw: RAW } });
  });

  test("of a token that was never fetched makes its row", async () => {
    const responses = await Promise.all([refresh(`/v1/tokens/${APES}/10`), refresh(`/v1/tokens/${APES}/10`)]);
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 429]);
  });

  test("of a token that the worker hasn't met goes with it, where a reorg takes its block", async () => {
    const main = inserter(t.sql);
    await t.sql`update offchain.network set indexed_block = 1000 where name = 'mainnet'`;
    for (const id of [5055, 5056]) {
      await main.token(APES, id, { owner: ALICE });
      await main.event(APES, id, [1000, id, 0], { event_type: "mint" });
      expect((await refresh(`/v1/tokens/${APES}/${id}`)).status).toBe(200);
    }
    await t.sql`delete from onchain_mainnet.token_event where token_id = 5055`;
    const known = () => t.sql`select token_id::int as id from offchain.token_metadata where token_id in (5055, 5056)`;
    const network = { network: "mainnet", chain_id: MAINNET_ID, indexed_block: 1030, head_block: 1030 } as const;
    const settleAt = (finalized_block: number) =>
      settleTokens(t.sql, { ...network, finalized_block, deployment: "", is_published: false, genesis_hash: "" });
    await settleAt(999);
    expect(await known()).toHaveLength(2);
    await settleAt(1000);
    expect(await known()).toEqual([{ id: 5056 }]);
    await t.sql`delete from onchain_mainnet.token where token_id in (5055, 5056)`;
    await t.sql`delete from onchain_mainnet.token_event where token_id = 5056`;
  });

  test("of a token that the worker hasn't met is of its mint: of another one after a reorg it is fetched anew", async () => {
    const other = await createTestApi();
    const main = inserter(other.sql);
    await main.contract(APES, { block_number: 1000 });
    const mint = { address: ALICE, block: 1000, timestamp: 1_600_001_000, hash: hashOf(1000) };
    await main.token(APES, 1, { owner: ALICE, mint });
    await main.event(APES, 1, [1000, 1, 0], { event_type: "mint" });
    const path = `/v1/tokens/${APES}/1/metadata/refresh`;
    expect((await other.request(path, { method: "POST" })).status).toBe(200);
    const enqueue = async (indexed_block: number) => {
      const blocks = { indexed_block, head_block: indexed_block, finalized_block: 0 };
      const found = { deployment: "", is_published: false, genesis_hash: "" };
      await other.sql`update token_watermark set rechecked_at = 'epoch'`;
      await enqueueTokens(other.sql, { network: "mainnet", chain_id: MAINNET_ID, ...blocks, ...found });
      const [row] = await other.sql`select awaiting_metadata_update from token_metadata`;
      return row!.awaiting_metadata_update as boolean;
    };
    await enqueue(1000);
    await other.sql`update token_metadata set turn = null, due_at = null, awaiting_metadata_update = false`;
    expect(await enqueue(1001)).toBe(false);
    await other.sql`update onchain_mainnet.token set mint_transaction_hash = decode(${hashOf(6).slice(2)}, 'hex')`;
    await other.sql`update onchain_mainnet.token_event set transaction_hash = decode(${hashOf(6).slice(2)}, 'hex')`;
    expect(await enqueue(1002)).toBe(true);
    await other.stop();
  });

  test("asked for twice at once, long after the last time, is refused for the whole period", async () => {
    const lastAskedFor = { refresh_requested_at: new Date(Date.now() - 7_200_000) };
    await t.sql`
      update offchain.token_metadata set ${t.sql(lastAskedFor)}
      where contract_address = ${toBytes(APES)} and token_id = 1
    `;
    const responses = await Promise.all(Array.from({ length: 8 }, () => refresh(`/v1/tokens/${APES}/1`)));
    const refused = responses.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(7);
    for (const { headers } of refused) expect(Number(headers.get("retry-after"))).toBeGreaterThan(590);
  });

  test("within the waiting period is refused for what is left of it, and taken after it", async () => {
    const askedFor = (secondsAgo: number) => t.sql`
      update offchain.token_metadata set refresh_requested_at = now() - ${secondsAgo} * interval '1 second'
      where contract_address = ${toBytes(APES)} and token_id = 1
    `;
    await askedFor(400);
    const { status, headers } = await refresh(`/v1/tokens/${APES}/1`);
    const seconds = Number(headers.get("retry-after"));
    expect([status, seconds > 150, seconds <= 200]).toEqual([429, true, true]);
    await askedFor(600);
    expect((await refresh(`/v1/tokens/${APES}/1`)).status).toBe(200);
    // The database's clock was set back by five hours since.
    await askedFor(-18_000);
    expect((await refresh(`/v1/tokens/${APES}/1`)).status).toBe(200);
    expect((await refresh(`/v1/tokens/${APES}/1`)).status).toBe(429);
  });

  test("without a body is taken whatever type that is said to have: axios, wget and curl -d call it a form", async () => {
    const headers = { "content-type": "application/x-www-form-urlencoded", "content-length": "0" };
    expect((await refresh(`/v1/tokens/${APES}/2`, { headers, body: "" })).status).toBe(200);
    expect((await refresh(`/v1/tokens/${ITEMS}/7`, { headers })).status).toBe(200);
  });

  test("of an unknown token is 404, of a bad id 400, with a body that isn't JSON 415", async () => {
    expect((await refresh(`/v1/tokens/${APES}/77`)).status).toBe(404);
    expect((await refresh(`/v1/tokens/${COINS}/1`)).status).toBe(404);
    expect((await refresh(`/v1/tokens/${APES}/x`)).status).toBe(400);
    expect(
      (await refresh(`/v1/tokens/${APES}/2`, { headers: { "content-type": "text/plain" }, body: "x" })).status,
    ).toBe(415);
    expect(
      (await refresh(`/v1/tokens/${APES}/2`, { headers: { "content-type": "application/json" }, body: "{" })).status,
    ).toBe(400);
  });
});

describe("the test network", () => {
  test("answers at its prefix with its own rows", async () => {
    expect((await t.get("/testnet/v1/contracts")).body.result.map((contract) => contract.contract_address)).toEqual([
      TEST_APES,
    ]);
    expect((await t.get(`/testnet/v1/tokens/${TEST_APES}/1`)).body.result.owner).toBe(ALICE);
    expect((await t.get(`/testnet/v1/tokens/${APES}/1`)).status).toBe(404);
    expect((await t.get(`/v1/tokens/${TEST_APES}/1`)).status).toBe(404);
  });

  test("takes no cursor of the main network", async () => {
    const { body } = await t.get("/v1/contracts?limit=1");
    expect((await t.get(`/testnet/v1/contracts?cursor=${body.cursor}`)).status).toBe(400);
  });
});

describe("requests", () => {
  const paths = [
    "/v1/contracts",
    `/v1/contracts/${APES}`,
    `/v1/tokens/${APES}`,
    `/v1/tokens/${APES}/1`,
    `/v1/events/${APES}`,
    `/v1/events/${APES}/1`,
    `/v1/owners/${ALICE}/tokens`,
    `/v1/owners/${ALICE}/contracts`,
    `/v1/owners/${ALICE}/all`,
  ];
  const lists = paths.filter((_, place) => ![1, 3].includes(place));

  test.each(paths)("to %s need a key that is known, its header in any case", async (path) => {
    for (const headers of [{}, { "x-api-key": "" }, { "x-api-key": "wrong" }]) {
      const response = await t.api.app.request(path, { headers });
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual({ type: "invalid_request", message: expect.any(String) as string });
    }
    expect((await t.api.app.request(path, { headers: { "X-API-KEY": TEST_KEY } })).status).toBe(200);
  });

  test.each(lists)("to %s are refused with a bad limit or cursor", async (path) => {
    for (const limit of [
      "0",
      "251",
      "-1",
      "abc",
      "1.5",
      "",
      "1e2",
      "%2B5",
      "0x10",
      "99999999999999999999",
      "1&limit=2",
    ])
      expect([limit, (await t.get(`${path}?limit=${limit}`)).status]).toEqual([limit, 400]);
    for (const limit of ["1", "250"]) expect((await t.get(`${path}?limit=${limit}`)).status).toBe(200);
    for (const cursor of ["", "x", "null", "AAAA", "a".repeat(60), "a".repeat(5000), "%00", "ü"])
      expect([cursor, (await t.get(`${path}?cursor=${cursor}`)).status]).toEqual([cursor, 400]);
  });

  test("with a cursor of another list or with a changed one are refused", async () => {
    const cursors = new Map<string, string>();
    for (const path of lists) {
      const { cursor } = (await t.get(`${path}?limit=1`)).body;
      if (cursor !== null) cursors.set(path, cursor);
    }
    expect(cursors.size).toBeGreaterThanOrEqual(7);
    for (const path of lists)
      for (const [from, cursor] of cursors)
        expect([path, from, (await t.get(`${path}?cursor=${cursor}`)).status]).toEqual([
          path,
          from,
          path === from ? 200 : 400,
        ]);
    // The scope of a token's events begins with that of its contract's events: the rest of it is moved into the key.
    const ofToken = Buffer.from((await t.get(`/v1/events/${APES}/1?limit=1`)).body.cursor ?? "", "base64url");
    const moved = Buffer.concat([ofToken.subarray(0, 16), Buffer.from("1\n"), ofToken.subarray(16)]);
    expect((await t.get(`/v1/events/${APES}?cursor=${moved.toString("base64url")}`)).status).toBe(400);
    const [[path, cursor] = ["", ""]] = cursors;
    for (let place = 0; place < cursor.length; place += 1) {
      const changed = cursor.slice(0, place) + (cursor[place] === "A" ? "B" : "A") + cursor.slice(place + 1);
      expect((await t.get(`${path}?cursor=${changed}`)).status).toBe(400);
    }
    for (const changed of [`${cursor}A`, `${cursor}=`, `${cursor}%20`, cursor.slice(0, -1)])
      expect((await t.get(`${path}?cursor=${changed}`)).status).toBe(400);
  });

  test("with an address that is none are 400", async () => {
    for (const address of [
      "0x",
      "0x0",
      "null",
      `${APES}0`,
      APES.slice(0, -1),
      APES.slice(2),
      "0xg".padEnd(42, "0"),
      "%00",
    ])
      for (const path of [
        "contracts/A",
        "tokens/A",
        "tokens/A/1",
        "events/A",
        "events/A/1",
        "owners/A/tokens",
        "owners/A/contracts",
        "owners/A/all",
      ])
        expect([path, (await t.get(`/v1/${path.replace("A", address)}`)).status]).toEqual([path, 400]);
  });

  test("with another method are 405 with Allow, to nothing 404", async () => {
    const put = await t.request("/v1/contracts", { method: "PUT" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect(await put.json()).toMatchObject({ type: "invalid_request" });
    const get = await t.request("/v1/tokens/batch");
    expect([get.status, get.headers.get("allow")]).toEqual([405, "OPTIONS, POST"]);
    expect((await t.request(`/v1/tokens/${APES}/1/metadata/refresh`)).status).toBe(405);
    expect((await t.request(`/v1/tokens/${APES}`, { method: "POST" })).status).toBe(405);
    for (const path of ["/nope", "/v1", "/v1/", "/v1/contracts/", "/v2/contracts", "/v1/owners/x/other"]) {
      const { status, body } = await t.get(path);
      expect([path, status, body.type]).toEqual([path, 404, "invalid_request"]);
    }
  });

  test("by HEAD have the headers and no body", async () => {
    const get = await t.request(`/v1/tokens/${APES}`);
    const head = await t.request(`/v1/tokens/${APES}`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(head.headers.get("etag")).toBe(get.headers.get("etag"));
    expect(head.headers.get("content-type")).toBe("application/json");
  });
});
