import postgres from "postgres";
import { expect, test } from "vitest";
import { createTestDatabase } from "../test/database.ts";
import { migrate } from "./migrate.ts";

test("many processes that start at once migrate an empty database once", async () => {
  const database = await createTestDatabase();
  const pools = Array.from({ length: 4 }, () => postgres(database.url, { max: 1, onnotice: () => {} }));
  await Promise.all(pools.map((sql) => migrate(sql)));
  const [first] = pools;
  const names = await first!<{ name: string }[]>`select name from offchain.migration order by name`;
  expect(names[0]?.name).toBe("001-core.sql");
  expect(new Set(names.map(({ name }) => name)).size).toBe(names.length);
  await Promise.all(pools.map((sql) => sql.end()));
  await database.drop();
});
