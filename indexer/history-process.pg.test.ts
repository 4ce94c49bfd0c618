import postgres from "postgres";
import { expect, test, vi } from "vitest";
import { ensureDeployment, historySchemaOf, markLoaded } from "./deployment.ts";
import { createTestDatabase } from "../test/database.ts";
import { startHistory } from "./history-process.ts";

test("a history that was loaded by a process whose end nobody saw isn't loaded again", async () => {
  const database = await createTestDatabase();
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  const chain = { chainId: 31337, genesisHash: "0x01" };
  const options = { network: "mainnet", chain, fingerprint: "aa", isNewGeneration: false } as const;
  const deployment = await ensureDeployment(sql, options);
  await sql`update offchain.deployment set history_block = 5`;
  await markLoaded(sql, deployment);

  // Nobody answers there.
  vi.stubEnv("MAINNET_RPC_URL", "http://127.0.0.1:1");
  const history = startHistory({
    network: "mainnet",
    chainId: chain.chainId,
    databaseUrl: database.url,
    schemaName: deployment.schema_name,
    onProgress: () => {},
    onProblem: () => {},
  });
  expect(await history.ended).toBeUndefined();
  expect(await sql`select from pg_namespace where nspname = ${historySchemaOf(deployment)}`).toHaveLength(0);

  await sql.end();
  await database.drop();
});
