import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toBytes } from "../../offchain/bytea.ts";
import { addressOf, type Body, createTestApi, inserter, type Row, type TestApi } from "../../test/api.ts";

const CONTRACT = addressOf(0x500000);
const OWNER = addressOf(0x77);

let t: TestApi;
/** Grows with each inserted row, so that each run of each walk has its own rows. */
let serial = 0;

beforeAll(async () => {
  t = await createTestApi();
});
afterAll(() => t.stop());

/** A list to walk: how a row gets into it, and how its rows are named and ordered. */
type List = {
  path: string;
  insert: (place: number) => Promise<string>;
  name: (row: Row) => string[];
  compare: (a: string, b: string) => number;
};

const byNumber = (a: string, b: string) => (BigInt(a) < BigInt(b) ? -1 : 1);
const byText = (a: string, b: string) => (a < b ? -1 : 1);
const unique = (place: number) => place * 100_000 + (serial += 1);

const lists: Record<string, () => List> = {
  contracts: () => ({
    path: "/v1/contracts",
    insert: async (place) => {
      const n = unique(place);
      await inserter(t.sql).contract(addressOf(n), { block_number: place, log_index: n });
      return `${String(place).padStart(9, "0")}-${String(n).padStart(12, "0")}-${addressOf(n)}`;
    },
    name: (row) => {
      const n = Number(row.contract_address);
      if (n % 0x100000 < 3) return [];
      const place = Math.floor(n / 100_000);
      return [`${String(place).padStart(9, "0")}-${String(n).padStart(12, "0")}-${String(row.contract_address)}`];
    },
    compare: byText,
  }),
  tokens: () => ({
    path: `/v1/tokens/${CONTRACT}`,
    insert: async (place) => {
      const id = BigInt(unique(place)) * 2n ** 200n;
      await inserter(t.sql).token(CONTRACT, id);
      return id.toString();
    },
    name: (row) => [String(row.token_id)],
    compare: byNumber,
  }),
  events: () => ({
    path: `/v1/events/${CONTRACT}`,
    insert: async (place) => {
      const n = unique(place);
      await inserter(t.sql).event(CONTRACT, 1, [place, n, 0]);
      return `${place * 1_000_000_000_000 + n}`;
    },
    name: (row) => [`${Number(row.block_number) * 1_000_000_000_000 + Number(row.log_index)}`],
    compare: (a, b) => byNumber(b, a),
  }),
  "owner tokens": () => ({
    path: `/v1/owners/${OWNER}/tokens`,
    insert: async (place) => {
      const n = unique(place);
      const contract = addressOf(0x600000 + (place % 3));
      if (n % 2) await inserter(t.sql).token(contract, n, { owner: OWNER });
      else {
        await inserter(t.sql).token(contract, n, { standard: "ERC1155" });
        await inserter(t.sql).ownership(contract, n, OWNER, 3);
      }
      return `${contract}/${String(n).padStart(12, "0")}`;
    },
    name: (row) => [`${String(row.contract_address)}/${String(row.token_id).padStart(12, "0")}`],
    compare: byText,
  }),
  "all holdings": () => ({
    ...(lists["owner tokens"] as () => List)(),
    path: `/v1/owners/${OWNER}/all`,
    name: (row) =>
      (row.items as Row[]).map((item) => `${String(row.contract_address)}/${String(item.token_id).padStart(12, "0")}`),
  }),
  "owner contracts": () => ({
    path: `/v1/owners/${OWNER}/contracts`,
    insert: async (place) => {
      const n = unique(place);
      await inserter(t.sql).contract(addressOf(n), { block_number: place });
      await inserter(t.sql).token(addressOf(n), 1, { owner: OWNER });
      return addressOf(n);
    },
    name: (row) => [String(row.contract_address)],
    compare: byText,
  }),
};

test.each(Object.keys(lists))(
  "%s: a walk shows each row of its start exactly once, in order, while rows come",
  async (name) => {
    await t.sql`truncate onchain_mainnet.contract, onchain_mainnet.token, onchain_mainnet.ownership, onchain_mainnet.token_event`;
    await inserter(t.sql).contract(CONTRACT);
    for (const n of [0, 1, 2]) await inserter(t.sql).contract(addressOf(0x600000 + n), { contract_type: "ERC1155" });
    await inserter(t.sql).token(CONTRACT, 1);
    await inserter(t.sql).event(CONTRACT, 1, [0, 0, 0]);
    const list = (lists[name] as () => List)();
    const place = fc.integer({ min: 10, max: 60 });

    await fc.assert(
      fc.asyncProperty(
        fc.array(place, { minLength: 1, maxLength: 10 }),
        fc.array(fc.array(place, { maxLength: 3 }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 9 }),
        async (before, meanwhile, limit) => {
          for (const at of before) await list.insert(at);
          const start = await walk(list, { limit: 250, meanwhile: [] });
          const seen = await walk(list, { limit, meanwhile });
          expect(new Set(seen).size).toBe(seen.length);
          expect(seen).toEqual(seen.toSorted(list.compare));
          const old = new Set(start);
          expect(seen.filter((row) => old.has(row))).toEqual(start);
        },
      ),
      { numRuns: 12 },
    );
  },
);

/** Follows the cursors to the end, and inserts rows between the pages. */
async function walk(list: List, { limit, meanwhile }: { limit: number; meanwhile: number[][] }): Promise<string[]> {
  const seen: string[] = [];
  const waves = [...meanwhile];
  let cursor: string | null = null;
  do {
    const { status, body }: { status: number; body: Body } = await t.get(
      `${list.path}?limit=${limit}${cursor === null ? "" : `&cursor=${cursor}`}`,
    );
    expect(status).toBe(200);
    expect(body.result.length).toBeGreaterThan(0);
    seen.push(...body.result.flatMap((row) => list.name(row)));
    cursor = body.cursor;
    for (const place of waves.shift() ?? []) await list.insert(place);
  } while (cursor !== null);
  return seen;
}

test("tokens: each has its own metadata, or none, whatever lies between them", async () => {
  const kinds = ["neither", "token", "metadata", "both"] as const;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 9 }),
      async (places, limit) => {
        const contract = addressOf(0x710000 + unique(0));
        await inserter(t.sql).contract(contract);
        const expected: unknown[] = [];
        for (const [id, kind] of places.entries()) {
          const isKnown = kind === "metadata" || kind === "both";
          if (isKnown) await inserter(t.sql).tokenMetadata(contract, id, { raw: `raw ${id}`, metadata_updated_at: id });
          if (kind === "neither" || kind === "metadata") continue;
          await inserter(t.sql).token(contract, id);
          expected.push([String(id), isKnown ? `raw ${id}` : "", isKnown ? id : null]);
        }
        const seen: unknown[] = [];
        let cursor: string | null = "";
        while (cursor !== null) {
          const { body }: { body: Body } = await t.get(
            `/v1/tokens/${contract}?limit=${limit}${cursor && `&cursor=${cursor}`}`,
          );
          for (const { token_id, metadata } of body.result) {
            const { raw, metadata_updated_at } = metadata as Row;
            seen.push([token_id, raw, metadata_updated_at]);
          }
          ({ cursor } = body);
        }
        expect(seen).toEqual(expected);
      },
    ),
    { numRuns: 30 },
  );
});

test("token URIs that are whole documents count as such", async () => {
  const contract = addressOf(0x700001);
  await inserter(t.sql).contract(contract);
  for (let id = 0; id < 20; id += 1) {
    await inserter(t.sql).token(contract, id, { owner: addressOf(0x89) });
    const token_uri = `data:application/json,${"{".repeat(id % 2 ? 100 : 4_000_000)}`;
    await inserter(t.sql).tokenMetadata(contract, id, { token_uri });
  }
  const ids: unknown[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const { status, body }: { status: number; body: Body } = await t.get(
      `/v1/owners/${addressOf(0x89)}/tokens?limit=250${cursor && `&cursor=${cursor}`}`,
    );
    expect(status).toBe(200);
    ids.push(...body.result.map((item) => Number(item.token_id)));
    ({ cursor } = body);
  }
  expect(ids).toEqual(Array.from({ length: 20 }, (_, id) => id));
});

test("a page that is just about a megabyte is one, and the walk goes on after it", async () => {
  const contract = addressOf(0x700002);
  const COUNT = 75;
  await inserter(t.sql).contract(contract);
  for (let id = 0; id < COUNT; id += 1) {
    await inserter(t.sql).token(contract, id);
    await inserter(t.sql).tokenMetadata(contract, id, { raw: "x".repeat(id === 0 ? 100 : 13_600) });
  }
  const path = `/v1/tokens/${contract}?limit=${COUNT - 1}`;
  const first = await (await t.request(path)).text();
  const fill = 1_048_576 - Buffer.byteLength(first);
  expect((JSON.parse(first) as Body).result).toHaveLength(COUNT - 1);
  for (const more of [fill - 1200, fill - 500, fill - 1, fill, fill + 1, fill + 100]) {
    const raw = JSON.stringify("x".repeat(100 + more));
    await t.sql`
      update offchain.token_metadata set raw_json = ${raw}
      where contract_address = ${toBytes(contract)} and token_id = 0
    `;
    const pages: number[][] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const text = await (await t.request(`${path}${cursor && `&cursor=${cursor}`}`)).text();
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_048_576);
      const body = JSON.parse(text) as Body;
      pages.push(body.result.map(({ token_id }) => Number(token_id)));
      ({ cursor } = body);
    }
    expect(pages[0]).toHaveLength(more > fill ? COUNT - 2 : COUNT - 1);
    expect(pages.flat()).toEqual(Array.from({ length: COUNT }, (_, id) => id));
  }
});

test("a page of large documents ends before a megabyte, and the walk goes on after it", async () => {
  const contract = addressOf(0x700000);
  await inserter(t.sql).contract(contract);
  for (let id = 0; id < 30; id += 1) {
    await inserter(t.sql).token(contract, id, { owner: addressOf(0x88) });
    const size = id === 7 ? 1_200_000 : 90_000;
    await inserter(t.sql).tokenMetadata(contract, id, { raw: "\u0001é".repeat(size / 3), normalized: "{}" });
  }
  const walks = [
    `/v1/tokens/${contract}`,
    `/v1/owners/${addressOf(0x88)}/tokens`,
    `/v1/owners/${addressOf(0x88)}/all`,
  ].flatMap((path) => [3, 250].map((limit) => ({ path, limit })));
  for (const { path, limit } of walks) {
    const ids: unknown[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const response = await t.request(`${path}?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      const text = await response.text();
      const body = JSON.parse(text) as Body;
      const items = body.result.flatMap((row) => (row.items as Row[] | undefined) ?? [row]);
      expect(Buffer.byteLength(text) <= 1_048_576 || items.length === 1).toBe(true);
      expect(items.length).toBeLessThanOrEqual(limit);
      ids.push(...items.map((item) => Number(item.token_id)));
      ({ cursor } = body);
    }
    expect(ids).toEqual(Array.from({ length: 30 }, (_, id) => id));
  }
});
