import { createTestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { readAllRows } from "./onchain-tables.ts";

/** All rows of a new index of a chain up to `head`, to which nothing happened: those that any index of it must have. */
export async function readFreshRows({
  rpcUrl,
  head,
  env,
}: {
  rpcUrl: string;
  head: number;
  env?: Record<string, string>;
}): ReturnType<typeof readAllRows> {
  const database = await createTestDatabase();
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl, env });
  try {
    await indexer.waitUntilLive(head);
    return await readAllRows(database.url);
  } finally {
    await indexer.stop();
    await database.drop();
  }
}
