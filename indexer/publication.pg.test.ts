import postgres from "postgres";
import { expect, test } from "vitest";
import { migrate } from "../offchain/migrate.ts";
import { createOnchainTables, createTestDatabase } from "../test/database.ts";
import type { Deployment } from "./deployment.ts";
import { publish } from "./publication.ts";

test("what an older version's tables lack is null or empty to the readers of this one", async () => {
  const database = await createTestDatabase();
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  await migrate(sql);
  await createOnchainTables(sql, "older");
  await sql`insert into older.approval values (1, 0, '\\x01', '\\x02', '\\x03', true)`;
  await sql`alter table older.approval drop column owner`;
  await sql`alter table older.approval add column gone text default 'kept'`;
  await sql`drop table older.raised_counter`;

  await publish(sql, { schema_name: "older", network: "mainnet" } as Deployment, { isComplete: false });
  const approvals = await sql`select * from onchain_mainnet.approval`;
  expect([...approvals]).toEqual([
    {
      block_number: "1",
      log_index: 0,
      contract_address: Buffer.from([1]),
      owner: null,
      operator: Buffer.from([3]),
      is_approved: true,
      gone: "kept",
    },
  ]);
  expect([...(await sql`select counter, maker from onchain_mainnet.raised_counter`)]).toEqual([]);

  await sql.end();
  await database.drop();
});
