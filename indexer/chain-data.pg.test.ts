import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { expect, test } from "vitest";
import { readConfig } from "../config.ts";
import { loadDirectoryOf } from "./load-directory.ts";
import { createReadableDatabase } from "../test/database.ts";
import { deleteChain } from "./chain-data.ts";

test("what is deleted of a chain is all that there is of it, and nothing else", async () => {
  const database = await createReadableDatabase();
  const config = readConfig({ DATA_DIR: await mkdtemp(join(tmpdir(), "nft-index-chain-data-")) });
  const listPutAside = () => readdir(join(config.dataDir, "history"));
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  const bystander = postgres(database.url, { max: 1, onnotice: () => {} });
  const owner = postgres(database.url, { max: 1, connection: { application_name: "the owner" } });
  const sessionOf = async (client: typeof sql) => (await client`select pg_backend_pid() as pid`)[0]?.pid as number;
  try {
    for (const [network, chainId] of [
      ["mainnet", 31337],
      ["testnet", 5],
    ] as const) {
      await sql`insert into offchain.network (name, chain_id) values (${network}, ${chainId})`;
      await sql`
        insert into offchain.token_metadata (chain_id, contract_address, token_id)
        values (${chainId}, ${Buffer.alloc(20)}, 1)
      `;
      await sql.unsafe(`create schema onchain_${network}_1`);
      const deployment = { schema_name: `onchain_${network}_1`, created_at: new Date(0) };
      await sql`
        insert into offchain.deployment ${sql({ ...deployment, network, chain_id: chainId, fingerprint: "", generation: 1, genesis_hash: "" })}
      `;
      await mkdir(loadDirectoryOf(config, deployment), { recursive: true });
    }
    await sql`insert into offchain.verified_collection (contract_address) values (${Buffer.alloc(20)})`;
    const [cutOff, kept] = [await sessionOf(bystander), await sessionOf(owner)];

    await deleteChain(sql, { config, network: "mainnet", chainId: 31337, spared: "the owner" });

    expect(await sessionOf(owner)).toBe(kept);
    expect(await sessionOf(bystander)).not.toBe(cutOff);
    expect(await listPutAside()).toEqual(["onchain_testnet_1_0"]);
    expect(await sql`select name from offchain.network`).toMatchObject([{ name: "testnet" }]);
    expect(await sql`select chain_id::int from offchain.token_metadata`).toMatchObject([{ chain_id: 5 }]);
    expect(await sql`select from offchain.verified_collection`).toHaveLength(1);
    expect(await sql`select nspname from pg_namespace where nspname like 'onchain%' order by 1`).toMatchObject([
      { nspname: "onchain_testnet" },
      { nspname: "onchain_testnet_1" },
    ]);
  } finally {
    await Promise.all([sql.end(), bystander.end(), owner.end()]);
    await database.drop();
    await rm(config.dataDir, { recursive: true });
  }
});
