import postgres from "postgres";
import { expect, test } from "vitest";
import { toBytes } from "./bytea.ts";
import { addressOf, hashOf } from "../test/api.ts";
import { createEmptyDatabase } from "../test/database.ts";
import { migrate } from "./migrate.ts";

test("many processes that start at once migrate an empty database once", async () => {
  const database = await createEmptyDatabase();
  const pools = Array.from({ length: 4 }, () => postgres(database.url, { max: 1, onnotice: () => {} }));
  await Promise.all(pools.map((sql) => migrate(sql)));
  const [first] = pools;
  const names = await first!<{ name: string }[]>`select name from offchain.migration order by name`;
  expect(names[0]?.name).toBe("001-core.sql");
  expect(new Set(names.map(({ name }) => name)).size).toBe(names.length);
  await Promise.all(pools.map((sql) => sql.end()));
  await database.drop();
});

test("a migration that was applied under another number isn't applied again", async () => {
  const database = await createEmptyDatabase();
  const sql = postgres(database.url, { max: 1, onnotice: () => {}, connection: { search_path: "offchain" } });
  await migrate(sql);
  const list = () => sql`select name, applied_at from migration order by name`.then((rows) => [...rows]);
  const names = await list();
  await sql`update migration set name = '019-abandoned-deployment.sql' where name = '020-abandoned-deployment.sql'`;
  await migrate(sql);
  expect(await list()).toEqual(names);
  await sql.end();
  await database.drop();
});

test("signed orders that were taken before say what they take their token for, and those that nobody could fill are gone", async () => {
  const database = await createEmptyDatabase();
  const sql = postgres(database.url, { max: 1, onnotice: () => {}, connection: { search_path: "offchain" } });
  await migrate(sql);
  await sql`alter table signed_order drop column token_standard`;
  const names = ["012-order-standard.sql", "013-order-fault.sql", "027-order-fault.sql", "031-token-recipient.sql"];
  await sql`delete from migration where name = any(${names})`;
  const insert = (hash: number, itemType: number, more: Record<string, string | number | null> = {}) => {
    const {
      side = "listing",
      orderType = 0,
      zone = addressOf(0),
      moneyType = 0,
      token = addressOf(0),
      endTime = "1",
      recipient = addressOf(2),
      ...columns
    } = more;
    const { id = "0", amount = "6", ...rest } = columns;
    const money = { itemType: moneyType, token, identifierOrCriteria: id, startAmount: amount, endAmount: amount };
    const nft = { itemType, token: addressOf(3), identifierOrCriteria: "1" };
    const asked = [{ ...money, recipient: addressOf(0) }];
    const [offer, consideration] = side === "listing" ? [[nft], asked] : [[money], [...asked, { ...nft, recipient }]];
    const row = {
      chain_id: 1,
      exchange_address: toBytes(addressOf(1)),
      order_hash: toBytes(hashOf(hash)),
      side,
      maker: toBytes(addressOf(2)),
      contract_address: toBytes(addressOf(3)),
      token_id: "1",
      quantity: "1",
      currency_address: toBytes(String(token)),
      start_amount: "1",
      end_amount: "1",
      start_time: 0,
      end_time: 1,
      counter: "0",
      operator: toBytes(addressOf(1)),
      broker: toBytes(addressOf(1)),
      placed_timestamp: 0,
      parameters: JSON.stringify({ offer, consideration, orderType, zone, endTime }),
      signature: toBytes("0x00"),
      ...rest,
    };
    return sql`insert into signed_order ${sql(row)}`;
  };
  await insert(1, 2);
  await insert(2, 3, { quantity: "5" });
  await insert(3, 4, { side: "offer", token_id: null, quantity: "3", orderType: 1 });
  await insert(4, 5, { side: "offer", token_id: null, quantity: "3" });
  await insert(5, 2, { quantity: "2", orderType: 1 });
  await insert(6, 4, { side: "offer", token_id: null, quantity: "3" });
  await insert(7, 2, { moneyType: 1, token: addressOf(9), orderType: 2, zone: addressOf(8) });
  await insert(8, 2, { moneyType: 1 });
  await insert(9, 2, { token: addressOf(9) });
  await insert(10, 2, { moneyType: 1, token: addressOf(9), id: "1" });
  await insert(11, 2, { id: "1" });
  await insert(12, 2, { orderType: 3 });
  await insert(13, 4, { side: "offer", token_id: null, quantity: "3", orderType: 1, amount: "5" });
  await insert(14, 2, { moneyType: 1, token: "0x0000000000a39bb272e79075ade125fd351887ac" });
  const late = { endTime: String(2n ** 53n) };
  await insert(15, 2, { ...late, amounts: "[[2,1]]" });
  await insert(16, 2, { side: "offer", recipient: addressOf(0) });
  await insert(0, 2, late);
  await migrate(sql);
  expect(
    await sql`
      select
        right(encode(order_hash, 'hex'), 1) as hash,
        token_standard
      from signed_order
      order by order_hash
    `,
  ).toEqual([
    { hash: "0", token_standard: "ERC721" },
    { hash: "1", token_standard: "ERC721" },
    { hash: "2", token_standard: "ERC1155" },
    { hash: "3", token_standard: "ERC721" },
    { hash: "4", token_standard: "ERC1155" },
    { hash: "7", token_standard: "ERC721" },
  ]);
  await sql.end();
  await database.drop();
});

test("contracts that don't say by ERC-165 what they are are asked once more", async () => {
  const database = await createEmptyDatabase();
  const sql = postgres(database.url, { max: 1, onnotice: () => {}, connection: { search_path: "offchain" } });
  await migrate(sql);
  await sql`delete from migration where name = '023-money.sql'`;
  const contracts = [
    { erc165_type: "ERC721", is_fungible: false },
    { erc165_type: null, is_fungible: false },
    { erc165_type: null, is_fungible: true },
  ];
  for (const [index, contract] of contracts.entries())
    await sql`insert into contract_metadata ${sql({ chain_id: 1, contract_address: toBytes(addressOf(index)), ...contract })}`;
  await migrate(sql);
  const rows = await sql<{ is_due: boolean }[]>`
    select due_at is not null as is_due
    from contract_metadata
    order by contract_address
  `;
  expect(rows.map(({ is_due }) => is_due)).toEqual([false, true, true]);
  await sql.end();
  await database.drop();
});

test("documents are compressed with lz4 where Postgres has it", async () => {
  const database = await createEmptyDatabase();
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  await migrate(sql);
  const [known] = await sql<{ has_lz4: boolean }[]>`
    select 'lz4' = any(enumvals) as has_lz4
    from pg_settings
    where name = 'default_toast_compression'
  `;
  const columns = await sql<{ attname: string }[]>`
    select attname
    from pg_attribute
    where attrelid = 'offchain.token_metadata'::regclass and attcompression = 'l'
    order by attname
  `;
  expect(columns.map(({ attname }) => attname)).toEqual(known?.has_lz4 ? ["normalized", "raw_json"] : []);
  await sql.end();
  await database.drop();
});
