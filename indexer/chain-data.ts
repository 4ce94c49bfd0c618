import { rm } from "node:fs/promises";
import type { Sql } from "postgres";
import type { Config, Network } from "../config.ts";
import { dropKeptChain } from "../history/keep/chunk-store.ts";
import { loadDirectoryOf } from "./load-directory.ts";

/** Forgets what the history engine and Ponder have fetched of a chain, so that it is fetched again. */
export async function dropChainData(sql: Sql, { chainId }: { chainId: number }): Promise<void> {
  await dropKeptChain(sql, { chainId });
  await dropPonderSync(sql, { chainId });
}

/** Forgets what Ponder has fetched of a chain. */
export async function dropPonderSync(sql: Sql, { chainId }: { chainId: number }): Promise<void> {
  await deleteRows(sql, { schema: "ponder_sync", chainId });
}

/**
 * Deletes a network's tables and all that was ever kept of its chain, for the demo, which begins anew at each start. All
 * sessions on the database but those named `spared` are ended. Other networks stay, and so does what belongs to no chain:
 * keys, verified collections, media.
 */
export async function deleteChain(
  sql: Sql,
  { config, network, chainId, spared }: { config: Config; network: Network; chainId: number; spared: string },
): Promise<void> {
  await sql`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where datname = current_database()
      and usename = current_user
      and backend_type = 'client backend'
      and pid <> pg_backend_pid()
      and application_name <> ${spared}
  `;
  await dropChainData(sql, { chainId });
  const schemas = await sql<{ name: string }[]>`
    select nspname as name
    from pg_namespace
    where nspname = ${`onchain_${network}`} or starts_with(nspname, ${`onchain_${network}_`})
  `;
  for (const { name } of schemas) await sql`drop schema ${sql(name)} cascade`;
  // Files of loads that were interrupted.
  const deployments = await sql<{ schema_name: string; created_at: Date }[]>`
    select
      schema_name,
      created_at
    from offchain.deployment
    where chain_id = ${chainId}
  `;
  for (const deployment of deployments) await rm(loadDirectoryOf(config, deployment), { recursive: true, force: true });
  await deleteRows(sql, { schema: "offchain", chainId });
}

/** In one transaction: Ponder's intervals say what of its rows is there. */
async function deleteRows(sql: Sql, { schema, chainId }: { schema: string; chainId: number }): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select c.relname as name
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema}
      and c.relkind = 'r'
      and a.attname = 'chain_id'
  `;
  await sql.begin(async (tx) => {
    for (const { name } of tables) await tx`delete from ${tx(`${schema}.${name}`)} where chain_id = ${chainId}`;
  });
}
