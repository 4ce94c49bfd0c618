import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Sql } from "postgres";
import type { Config, Network } from "../config.ts";
import { indexStatements } from "./indexes.ts";
import type { Chain } from "./rpc.ts";

const ROOT = join(import.meta.dirname, "..");

/** All that Ponder hashes into its build id, and more: it refuses a schema whose tables another build made. */
const DEFINING_FILES = ["ponder.config.ts", "ponder.schema.ts", "sources.ts", "abis/*.ts", "src/**/*.ts"];

/** Tables of a deployment that readers see. */
const PUBLISHED_TABLES = [
  "contract",
  "token",
  "ownership",
  "token_event",
  "skipped_log",
  "metadata_update",
  "trade_order",
  "order_counter",
  "approval",
  "conduit",
];

/** How long dropping something waits for its readers, so that no reader waits behind it for long, and how often. */
const LOCK_TIMEOUT = "2s";
const DROP_ATTEMPTS = 5;

/** An index of so much is made within about a second. */
const SMALL_TABLE_BYTES = 128 * 2 ** 20;

/** SQLSTATEs of a wait that was too long and of a deadlock. */
const BUSY = new Set(["55P03", "40P01"]);

/** One set of on-chain tables: a schema in which one Ponder process writes. */
export type Deployment = {
  schema_name: string;
  network: Network;
  chain_id: number;
  fingerprint: string;
  generation: number;
  genesis_hash: string;
  published_at: Date | null;
};

/** Hash of all that decides what the tables hold: code, chain id, range, contracts. Equal hashes, equal tables. */
export function fingerprintOf(config: Config, { network, chainId }: { network: Network; chainId: number }): string {
  const { startBlock, endBlock, contracts, firstGenerationContracts } = config.networks[network]!;
  const hash = createHash("sha256");
  const exclude = ["**/*.test.ts"];
  for (const file of DEFINING_FILES.flatMap((pattern) => globSync(pattern, { cwd: ROOT, exclude })).toSorted())
    hash.update(file).update(readFileSync(join(ROOT, file)));
  const { version } = JSON.parse(readFileSync(join(ROOT, "node_modules/ponder/package.json"), "utf8")) as {
    version: string;
  };
  const { cryptopunksAddresses: punks, seaportAddresses: seaports } = config;
  const settings = {
    chainId,
    startBlock,
    endBlock,
    contracts,
    firstGenerationContracts,
    punks,
    seaports,
    ponder: version,
  };
  return hash.update(JSON.stringify(settings)).digest("hex").slice(0, 12);
}

/** Whether a deployment is of this chain, and not of one that had its id before. */
export function isOfChain(deployment: Deployment, { chainId, genesisHash }: Chain): boolean {
  if (deployment.chain_id !== chainId) return false;
  return deployment.genesis_hash === genesisHash || deployment.genesis_hash === "" || genesisHash === "";
}

/**
 * The newest generation of this fingerprint, made if there is none. Where the chain began anew under its old id, what
 * was fetched of it is forgotten and a new generation begins. `isNewGeneration` makes one in any case.
 */
export async function ensureDeployment(
  sql: Sql,
  { network, chain, fingerprint, isNewGeneration }: EnsureOptions,
): Promise<Deployment> {
  const newest = await findDeployment(sql, { network, fingerprint });
  const isSameChain = newest === undefined || isOfChain(newest, chain);
  if (newest && isSameChain && !isNewGeneration) return newest;
  if (!isSameChain) await dropCachedChain(sql, chain);
  const generation = (newest?.generation ?? 0) + 1;
  const [created] = await sql<Deployment[]>`
    insert into offchain.deployment (schema_name, network, chain_id, fingerprint, generation, genesis_hash)
    values (
      ${`onchain_${network}_${fingerprint}_${generation}`},
      ${network},
      ${chain.chainId},
      ${fingerprint},
      ${generation},
      ${chain.genesisHash}
    )
    returning ${columns(sql)}
  `;
  return created!;
}
type EnsureOptions = { network: Network; chain: Chain; fingerprint: string; isNewGeneration: boolean };

/** The newest generation of a fingerprint. */
export async function findDeployment(
  sql: Sql,
  { network, fingerprint }: { network: Network; fingerprint: string },
): Promise<Deployment | undefined> {
  const [newest] = await sql<Deployment[]>`
    select ${columns(sql)}
    from offchain.deployment
    where network = ${network}
      and fingerprint = ${fingerprint}
    order by generation desc
    limit 1
  `;
  return newest;
}

/** The deployment of a network that was made last, of whatever version. */
export async function findNewest(sql: Sql, { network }: { network: Network }): Promise<Deployment | undefined> {
  const [newest] = await sql<Deployment[]>`
    select ${columns(sql)}
    from offchain.deployment
    where network = ${network}
    order by created_at desc
    limit 1
  `;
  return newest;
}

/** The deployment that readers of a network see, if one was ever complete. */
export async function findPublished(sql: Sql, { network }: { network: Network }): Promise<Deployment | undefined> {
  const [published] = await sql<Deployment[]>`
    select ${columns(sql)}
    from offchain.deployment
    where network = ${network}
      and published_at is not null
    order by published_at desc
    limit 1
  `;
  return published;
}

const columns = (sql: Sql) => sql`
  schema_name,
  network,
  chain_id::float8,
  fingerprint,
  generation,
  genesis_hash,
  published_at
`;

/** Makes the indexes that are still missing, while Ponder goes on writing. */
export async function createIndexes(sql: Sql, { schema_name }: Deployment): Promise<void> {
  // One that was cut off is there, but not valid: it would never be used and never be made again.
  const invalid = await sql<{ name: string }[]>`
    select c.relname as name
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema_name}
      and not i.indisvalid
  `;
  for (const { name } of invalid) await sql.unsafe(`drop index "${schema_name}"."${name}"`);
  const missing = indexStatements(schema_name);
  // Tables beside each other: two indexes of one table would wait for each other.
  await Promise.all(
    PUBLISHED_TABLES.map(async (table) => {
      const [row] = await sql<{ bytes: number }[]>`
        select pg_relation_size(${`"${schema_name}"."${table}"`}::regclass)::float8 as bytes
      `;
      // A small table keeps Ponder waiting for a moment only, where doing it beside its writes takes several times as long.
      const how = row!.bytes < SMALL_TABLE_BYTES ? "plain" : "concurrently";
      for (const index of missing) if (index.table === table) await sql.unsafe(index[how]);
      await sql.unsafe(`analyze "${schema_name}"."${table}"`);
    }),
  );
}

/** Whether the tables of a deployment exist yet. */
export async function hasTables(sql: Sql, { schema_name }: Deployment): Promise<boolean> {
  const [row] = await sql<{ table: string | null }[]>`
    select to_regclass(${`"${schema_name}".token_event`})::text as table
  `;
  return row?.table != null;
}

/**
 * Points the readers' views at a deployment, all in one step. `isComplete`: for good, not as a preview.
 *
 * The new views come into a schema beside the old ones, and the schemas change names: readers and we wait for nobody,
 * where dropping a view that is being read waits, and several of them can be a deadlock.
 */
export async function publish(
  sql: Sql,
  { schema_name, network }: Deployment,
  { isComplete }: { isComplete: boolean },
): Promise<void> {
  const views = `onchain_${network}`;
  const [next, last] = [`${views}_next`, `${views}_last`];
  await dropSchema(sql, last);
  await sql.begin(async (tx) => {
    await tx`set local client_min_messages = warning`;
    await tx.unsafe(`drop schema if exists "${next}" cascade`);
    await tx.unsafe(`create schema "${next}"`);
    for (const table of PUBLISHED_TABLES)
      await tx.unsafe(`create view "${next}"."${table}" as select * from "${schema_name}"."${table}"`);
    const [existing] = await tx`select from pg_namespace where nspname = ${views}`;
    if (existing) await tx.unsafe(`alter schema "${views}" rename to "${last}"`);
    await tx.unsafe(`alter schema "${next}" rename to "${views}"`);
    if (isComplete) await tx`update offchain.deployment set published_at = now() where schema_name = ${schema_name}`;
  });
  await dropSchema(sql, last);
}

/** Readers that are at it finish first; nobody waits behind us for long. */
async function dropSchema(sql: Sql, schemaName: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await sql.begin(async (tx) => {
        await tx.unsafe(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
        await tx`set local client_min_messages = warning`;
        await tx.unsafe(`drop schema if exists "${schemaName}" cascade`);
      });
      return;
    } catch (error) {
      const isBusy = BUSY.has((error as { code?: string }).code ?? "");
      if (!isBusy || attempt === DROP_ATTEMPTS) throw error;
    }
  }
}

/** Drops the deployments of a network that are older than the published one. */
export async function pruneDeployments(sql: Sql, published: Deployment): Promise<void> {
  const old = await sql<{ schema_name: string }[]>`
    select schema_name
    from offchain.deployment
    where network = ${published.network}
      and created_at < (select created_at from offchain.deployment where schema_name = ${published.schema_name})
  `;
  for (const { schema_name } of old) {
    await dropSchema(sql, schema_name);
    await sql`delete from offchain.deployment where schema_name = ${schema_name}`;
  }
}

/** Forgets the chain data that Ponder has fetched of a chain, so that it is fetched again. */
export async function dropCachedChain(sql: Sql, { chainId }: { chainId: number }): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name
    from information_schema.columns
    where table_schema = 'ponder_sync'
      and column_name = 'chain_id'
  `;
  // The intervals say what is there, so they go in the same step.
  await sql.begin(async (tx) => {
    for (const { name } of tables) await tx`delete from ${tx(`ponder_sync.${name}`)} where chain_id = ${chainId}`;
  });
}
