import type { Sql } from "postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { toBytes } from "../../offchain/bytea.ts";
import { held as heldTokens } from "../marketplace/marketplace-scope.ts";
import { runLong } from "../sql/long-statement.ts";
import { addressOf } from "../../test/api.ts";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import { explainStatement } from "../../test/explain.ts";
import { findContract, listContracts } from "./contract.ts";
import { streamOf } from "../sql/database.ts";
import { listEvents } from "./event.ts";
import { listEventItems } from "./event-item.ts";
import { listHeld } from "./holding.ts";
import { listOwnerContracts } from "./owner-contract.ts";
import { listHoldings, listOwnerTokens } from "./owner-token.ts";
import { listOwnedItems } from "../orderbook/orderbook.ts";
import { listTokens } from "./token-item.ts";
import { listBatch } from "./token-lookup.ts";

/**
 * So many rows that reading a table costs more than using an index: 40 contracts, and an owner of half of the tokens.
 */
const CONTRACTS = 40;
const TOKENS = 1500;
const CHAIN_ID = 1;
const CONTRACT = addressOf(1000 + 7);
const WHALE = addressOf(5000);
/** Holds thousands of tokens of hidden contracts, which come before its other tokens. */
const HUNTED = addressOf(9001);
/** Holds as many tokens of each of many hidden contracts as a page has, and behind them one that isn't hidden. */
const SHOWERED = addressOf(9002);
const SHOWERS = 200;

const { database, sql } = await useDatabase(createReadableDatabase, {
  max: 1,
  connection: { search_path: "onchain_mainnet,offchain" },
});

beforeAll(async () => {
  const address = (n: string) => `decode(lpad(to_hex(${n}), 40, '0'), 'hex')`;
  const tokens = `generate_series(1, ${CONTRACTS}) as c, generate_series(1, ${TOKENS}) as i`;
  await sql.unsafe(`
    insert into contract
    select ${address("1000 + c")}, case when c % 2 = 0 then 'ERC1155' else 'ERC721' end, false, c, 0
    from generate_series(1, ${CONTRACTS}) as c;
    insert into contract
    select ${address("100000 + c")}, 'ERC721', false, c, 1
    from generate_series(1, 20000) as c;
    insert into token
    select ${address("1000 + c")}, i, case when c % 2 = 0 then 'ERC1155' else 'ERC721' end,
      case when c % 2 = 0 then null else ${address("5000 + case when i % 2 = 0 then 0 else i % 400 end")} end,
      ${address("7000")}, i, i, ${address("i")}
    from ${tokens};
    insert into ownership
    select ${address("1000 + c")}, i, ${address("5000 + h * (i % 400)")}, 1, i, h, 0
    from ${tokens}, generate_series(0, 2) as h
    where c % 2 = 0
    on conflict do nothing;
    insert into token_event
    select i, c, 0, i, 'transfer', ${address("1000 + c")}, i, ${address("7000")}, ${address("5000")}, 1, ${address("i")}
    from ${tokens};
    insert into token_metadata (chain_id, contract_address, token_id, raw_json, normalized)
    select 1, ${address("1000 + c")}, i, to_json(repeat('x', 300))::text, '{}'
    from ${tokens};
    insert into contract_metadata (chain_id, contract_address, is_fungible)
    select 1, contract_address, block_number % 10 = 9 and log_index = 1 from contract;
    insert into contract_metadata (chain_id, contract_address, is_fungible)
    select 1, ${address("900 + c")}, true from generate_series(1, 2) as c;
    insert into contract
    select ${address("900 + c")}, 'ERC721', false, 0, c from generate_series(1, 2) as c;
    insert into token
    select ${address("900 + c")}, i, 'ERC721', case when c = 1 then ${address("9001")} end
    from generate_series(1, 2) as c, generate_series(1, 5000) as i;
    insert into ownership
    select ${address("902")}, i, ${address("9001")}, 1, i, 1, 0 from generate_series(1, 5000) as i;
    insert into contract_metadata (chain_id, contract_address, is_fungible)
    select 1, ${address("300 + c")}, true from generate_series(1, ${SHOWERS}) as c;
    insert into token
    select ${address("300 + c")}, i, 'ERC721', ${address("9002")}
    from generate_series(1, ${SHOWERS}) as c, generate_series(1, 101) as i;
    insert into token
    select ${address("1007")}, 3000, 'ERC721', ${address("9002")};
    insert into token
    select ${address("1007")}, 2000 + i, 'ERC721', ${address("9001")} from generate_series(1, 3) as i;
    insert into token
    select ${address("1008")}, 2000 + i, 'ERC1155', null from generate_series(1, 3) as i;
    insert into ownership
    select ${address("1008")}, 2000 + i, ${address("9001")}, 1, i, 1, 0 from generate_series(1, 3) as i;
    analyze;
  `);
});

/** The plans of the first statement that `query` runs, which finds something. */
async function explain(query: (sql: Sql) => Promise<unknown>) {
  const plans = await explainStatement(database.url, query, { at: 0 });
  expect(plans[0]!["Actual Rows"]).toBeGreaterThan(0);
  return plans;
}

test("a row that comes while large documents are read again takes no other's place", async () => {
  const chainId = 2;
  const contract = addressOf(999_999);
  const addToken = (id: number) => sql`
    with added as (insert into token (contract_address, token_id, standard) values (${toBytes(contract)}, ${id}, 'ERC721'))
    insert into token_metadata (chain_id, contract_address, token_id, raw_json)
    values (${chainId}, ${toBytes(contract)}, ${id}, to_json(repeat('x', 20000))::text)
  `;
  await sql`insert into contract values (${toBytes(contract)}, 'ERC721', false, 999999, 0)`;
  for (const id of [10, 20]) await addToken(id);
  const stream = streamOf(sql);
  let statements = 0;
  const page = await listTokens(
    async (...statement) => {
      statements += 1;
      if (statements === 3) await addToken(5);
      return stream(...statement);
    },
    { chainId, contractAddress: contract, after: undefined, limit: 100 },
  );
  expect(statements).toBe(3);
  const body = page.finish(({ place }) => `after ${place}`);
  expect(JSON.parse(body.toString())).toMatchObject({
    cursor: "after 1",
    result: [{ token_id: "5" }, { token_id: "10" }],
  });
});

const lists: Record<string, (sql: Sql) => Promise<unknown>> = {
  "contracts, first page": (sql) => listContracts(sql, { chainId: CHAIN_ID, after: undefined, limit: 101 }),
  "contracts, deep page": (sql) =>
    listContracts(sql, { chainId: CHAIN_ID, after: [15_000, 0, addressOf(1)], limit: 101 }),
  "one contract": (sql) => findContract(sql, { chainId: CHAIN_ID, contractAddress: CONTRACT }),
  "tokens, first page": (sql) =>
    listTokens(streamOf(sql), { chainId: CHAIN_ID, contractAddress: CONTRACT, after: undefined, limit: 101 }),
  "tokens, deep page": (sql) =>
    listTokens(streamOf(sql), { chainId: CHAIN_ID, contractAddress: CONTRACT, after: "1200", limit: 101 }),
  "tokens, several holders": (sql) =>
    listTokens(streamOf(sql), { chainId: CHAIN_ID, contractAddress: addressOf(1008), after: "700", limit: 251 }),
  "tokens by id": (sql) =>
    listTokens(streamOf(sql), {
      chainId: CHAIN_ID,
      contractAddress: CONTRACT,
      tokenIds: Array.from({ length: 250 }, (_, id) => String(id * 5)),
      after: undefined,
      limit: 101,
    }),
  batch: (sql) =>
    listBatch(streamOf(sql), {
      chainId: CHAIN_ID,
      tokens: Array.from({ length: 100 }, (_, id) => ({
        contract_address: addressOf(1000 + (id % 40)),
        token_id: `${id}`,
      })),
    }),
  "contract events, first page": (sql) =>
    listEvents(sql, { chainId: CHAIN_ID, contractAddress: CONTRACT, before: undefined, limit: 101 }),
  "contract events, deep page": (sql) =>
    listEvents(sql, { chainId: CHAIN_ID, contractAddress: CONTRACT, before: [500, 7, 0], limit: 101 }),
  "token events": (sql) =>
    listEvents(sql, { chainId: CHAIN_ID, contractAddress: CONTRACT, tokenId: "7", before: [500, 7, 0], limit: 101 }),
  "contract events as items": (sql) =>
    listEventItems(streamOf(sql), { chainId: CHAIN_ID, contractAddress: CONTRACT, before: [500, 7, 0], limit: 101 }),
  "token events as items": (sql) =>
    listEventItems(streamOf(sql), {
      chainId: CHAIN_ID,
      contractAddress: CONTRACT,
      tokenId: "7",
      before: [500, 7, 0],
      limit: 101,
    }),
  "held tokens": (sql) =>
    listHeld(sql, { chainId: CHAIN_ID, accountAddress: WHALE, after: [addressOf(1030), "70"], limit: 101 }),
  "owner tokens, first page": (sql) =>
    listHoldings(streamOf(sql), {
      chainId: CHAIN_ID,
      accountAddress: WHALE,
      after: undefined,
      limit: 101,
    }),
  "owner tokens, deep page": (sql) =>
    listHoldings(streamOf(sql), {
      chainId: CHAIN_ID,
      accountAddress: WHALE,
      after: [addressOf(1030), "70"],
      limit: 101,
    }),
  "owner tokens of a contract": (sql) =>
    listOwnerTokens(streamOf(sql), {
      chainId: CHAIN_ID,
      accountAddress: WHALE,
      contractAddress: CONTRACT,
      after: [CONTRACT, "700"],
      limit: 101,
    }),
  "owner contracts, first page": (sql) =>
    listOwnerContracts(streamOf(sql), { chainId: CHAIN_ID, accountAddress: WHALE, after: undefined, limit: 101 }),
  "owner contracts, deep page": (sql) =>
    listOwnerContracts(streamOf(sql), { chainId: CHAIN_ID, accountAddress: WHALE, after: addressOf(1020), limit: 11 }),
};

test("the documents of a page of tokens are read in one go, not looked up one by one", async () => {
  const plans = await explain((one) =>
    listTokens(streamOf(one), { chainId: CHAIN_ID, contractAddress: CONTRACT, after: "700", limit: 100 }),
  );
  const reads = plans.filter((plan) => plan["Relation Name"] === "token_metadata");
  expect(reads.map((plan) => [plan["Actual Loops"], plan["Actual Rows"]])).toEqual([
    [1, 101],
    [0, 0],
  ]);
});

describe("what was given of hidden contracts is passed over, not looked at one by one:", () => {
  const options = { chainId: CHAIN_ID, accountAddress: HUNTED, after: undefined, limit: 100 };

  test.each<[string, (one: Sql) => Promise<unknown>]>([
    ["held tokens", (one) => listHeld(one, options)],
    ["owner tokens", (one) => listOwnerTokens(streamOf(one), options)],
    ["holdings", (one) => listHoldings(streamOf(one), options)],
    ["orderbook", (one) => listOwnedItems(streamOf(one), { ...options, now: Math.floor(Date.now() / 1000) })],
  ])("%s", async (_, list) => {
    for (const table of ["token", "ownership", "contract_metadata"]) {
      const reads = (await explain(list)).filter((plan) => plan["Relation Name"] === table);
      const rows = reads.reduce((sum, plan) => sum + plan["Actual Rows"] * plan["Actual Loops"], 0);
      expect([table, rows > 0, rows < 600]).toEqual([table, true, true]);
    }
  });

  test("of many contracts too, each with a page of tokens", async () => {
    const ofMany = { ...options, accountAddress: SHOWERED };
    for (const table of ["token", "contract_metadata"]) {
      const reads = (await explain((one) => listHeld(one, ofMany))).filter((plan) => plan["Relation Name"] === table);
      const rows = reads.reduce((sum, plan) => sum + plan["Actual Rows"] * plan["Actual Loops"], 0);
      expect([table, rows > SHOWERS, rows < 10 * SHOWERS]).toEqual([table, true, true]);
    }
    expect((await listHeld(sql, ofMany)).map(({ token_id }) => token_id)).toEqual(["3000"]);
  });

  test("and what is behind them is there", async () => {
    expect((await listHeld(sql, options)).map(({ token_id }) => token_id)).toEqual([
      "2001",
      "2002",
      "2003",
      "2001",
      "2002",
      "2003",
    ]);
  });
});

test("an account's tokens of one collection are found without a look at those of the collections behind it", async () => {
  const countBlocks = async () => {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await sql<{ blocks: number }[]>`
      select (idx_blks_read + idx_blks_hit)::float8 as blocks
      from pg_statio_user_indexes
      where
        schemaname = 'onchain_mainnet'
        and indexrelname = 'token_owner'
    `;
    return row!.blocks;
  };
  const ofOne = { chainId: CHAIN_ID, accountAddress: WHALE, contractAddress: CONTRACT, after: undefined, limit: 1000 };
  const before = await countBlocks();
  expect(await listHeld(sql, ofOne)).toHaveLength(TOKENS / 2);
  // Of 15,000 tokens, of which a block has about a hundred.
  expect((await countBlocks()) - before).toBeLessThan(40);
});

test("tokens that somebody holds are found without a hash of all that anybody holds", async () => {
  const plan = await runLong<Record<string, string>>(
    sql,
    (long) =>
      long`explain ${long.unsafe(heldTokens({ contract: "$1::bytea" }).replace("$1", `'\\x${addressOf(1008).slice(2)}'`))}`,
  );
  expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).not.toContain("hashed");
});

/** How many rows a step may read: a page of 251 with its look-ups, and never a contract of 1500 tokens. */
const MAX_ROWS = 520;

test.each(Object.entries(lists))("%s: no table is scanned, sorted or filtered through", async (_, query) => {
  for (const plan of await explain(query)) {
    expect(plan["Node Type"]).not.toBe("Seq Scan");
    expect([plan["Node Type"], plan["Relation Name"], plan["Actual Rows"] <= MAX_ROWS]).toEqual([
      plan["Node Type"],
      plan["Relation Name"],
      true,
    ]);
    const removed = plan["Rows Removed by Filter"] ?? 0;
    expect([plan["Node Type"], plan["Relation Name"], removed <= MAX_ROWS]).toEqual([
      plan["Node Type"],
      plan["Relation Name"],
      true,
    ]);
  }
});
