import postgres from "postgres";
import { expect, test } from "vitest";
import { ensureFilter, listKept } from "../history/keep/chunk-store.ts";
import { createReadableDatabase } from "../test/database.ts";
import { abandonDeployments, ensureDeployment, findBySchema } from "./deployment.ts";

test("what was made of blocks that are gone is never followed again, and what was kept of them is forgotten once", async () => {
  const database = await createReadableDatabase();
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  const chain = { chainId: 31337, genesisHash: "0x01" };
  const ensure = (fingerprint: string) =>
    ensureDeployment(sql, { network: "mainnet", chain, fingerprint, isNewGeneration: false });
  const countKept = async () => (await sql`select from offchain.kept_log_filter`).length;

  const [older, first] = [await ensure("aa"), await ensure("bb")];
  await ensureFilter(sql, chain, []);
  expect(await ensure("bb")).toEqual(first);
  expect(await countKept()).toBe(1);

  await abandonDeployments(sql, chain);
  expect(await findBySchema(sql, first.schema_name)).toMatchObject({ is_abandoned: true });
  const second = await ensure("bb");
  expect(second).toMatchObject({ fingerprint: "bb", generation: 2, is_abandoned: false });
  expect(await countKept()).toBe(0);

  // Also where another version comes later: what is kept by then is of the blocks that there are.
  await ensureFilter(sql, chain, []);
  expect(await ensure("bb")).toEqual(second);
  expect(await ensure("aa")).toMatchObject({ fingerprint: "aa", generation: older.generation + 1 });
  expect(await countKept()).toBe(1);

  await sql.end();
  await database.drop();
});

test("a version that begins while no node tells the genesis block goes on with what is kept of the chain", async () => {
  const database = await createReadableDatabase();
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  const known = { chainId: 31337, genesisHash: "0x01" };
  const ensure = (fingerprint: string, genesisHash: string) =>
    ensureDeployment(sql, {
      network: "mainnet",
      chain: { ...known, genesisHash },
      fingerprint,
      isNewGeneration: false,
    });

  await ensure("aa", known.genesisHash);
  await ensureFilter(sql, known, []);
  const { chain_id: chainId, genesis_hash: genesisHash } = await ensure("bb", "");
  expect(await listKept(sql, { chainId, genesisHash })).toHaveLength(1);
  // And is no other one's once a chain that began anew tells its own.
  expect(await ensure("bb", "0x02")).toMatchObject({ generation: 2, genesis_hash: "0x02" });
  expect(await listKept(sql, { chainId, genesisHash })).toEqual([]);

  await sql.end();
  await database.drop();
});
