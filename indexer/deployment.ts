import type { Fragment, ISql, Sql } from "postgres";
import type { Network } from "../config.ts";
import type { Chain } from "../history/chain-log.ts";
import { dropChainData } from "./chain-data.ts";
import { readPosition } from "./ponder/ponder-position.ts";
import { dropWhenFree } from "./publication.ts";

/** One set of on-chain tables: a schema in which one Ponder process writes. */
export type Deployment = {
  schema_name: string;
  network: Network;
  chain_id: number;
  fingerprint: string;
  generation: number;
  genesis_hash: string;
  /** The last block that the history engine loads; below the start block where there is none. Null: not fixed yet. */
  history_block: number | null;
  history_hash: string | null;
  /** When the history engine was done with it. */
  history_loaded_at: Date | null;
  created_at: Date;
  published_at: Date | null;
  /** The last block that Ponder took for final, as far as it was noted. */
  finalized_block: number | null;
  finalized_hash: string | null;
  /** The chain has replaced blocks of it that were final: nobody follows it, but readers see it until there is another. */
  is_abandoned: boolean;
};

/** Where the history engine makes a deployment's tables, for Ponder to take over. */
export function historySchemaOf({ schema_name }: Pick<Deployment, "schema_name">): string {
  return `${schema_name}_history`;
}

/** Whether a deployment is of this chain, and not of an earlier one with the same id. */
export function isOfChain(deployment: Deployment, { chainId, genesisHash }: Chain): boolean {
  if (deployment.chain_id !== chainId) return false;
  return deployment.genesis_hash === genesisHash || deployment.genesis_hash === "" || genesisHash === "";
}

/**
 * The newest generation of this fingerprint, made if there is none. Where the chain began anew under its old id, or the
 * last deployment was abandoned, all that was fetched of the chain is dropped and a new generation begins.
 * `isNewGeneration` begins one in any case.
 */
export async function ensureDeployment(
  sql: Sql,
  { network, chain, fingerprint, isNewGeneration }: EnsureOptions,
): Promise<Deployment> {
  await forgetLost(sql, { network });
  // Whatever the fingerprint: Ponder would go on with what it has fetched of the chain that was.
  const last = await findLastOfChain(sql, chain);
  const isAnew = last !== undefined && !isOfChain(last, chain);
  // Where the newest one is abandoned, nothing was made yet of the blocks that replaced the others.
  const latest = await findNewest(sql, { network });
  const isAbandoned = latest?.chain_id === chain.chainId && latest.is_abandoned;
  if (isAnew || isAbandoned) await dropChainData(sql, chain);
  const newest = await findDeployment(sql, { network, fingerprint });
  const isKept = newest && isOfChain(newest, chain) && !newest.is_abandoned;
  if (isKept && !isAnew && !isNewGeneration) return newest;
  const generation = (newest?.generation ?? 0) + 1;
  // Where no node tells the genesis block now, it is the one that was: under it is what is kept of the chain.
  const [created] = await sql<Deployment[]>`
    insert into offchain.deployment (schema_name, network, chain_id, fingerprint, generation, genesis_hash, created_at)
    values (
      -- By its time: where a backup is put back beside tables, no row of it has the name of those.
      ${`onchain_${network}_${fingerprint}_${Date.now()}`},
      ${network},
      ${chain.chainId},
      ${fingerprint},
      ${generation},
      ${chain.genesisHash || (last?.genesis_hash ?? "")},
      -- Later than those of all others, also where the clock was set back since.
      (select greatest(now(), max(created_at) + interval '1 ms') from offchain.deployment)
    )
    returning ${columns(sql)}
  `;
  return created!;
}

type EnsureOptions = { network: Network; chain: Chain; fingerprint: string; isNewGeneration: boolean };

/** Forgets deployments whose tables are gone, as after a restored backup without them: they are built anew. */
async function forgetLost(sql: Sql, { network }: { network: Network }): Promise<void> {
  const made = await list(
    sql,
    sql`network = ${network} and (history_loaded_at is not null or published_at is not null)`,
  );
  for (const deployment of made) {
    const { schema_name } = deployment;
    // In this order: Ponder takes history's tables over in the transaction in which it first notes how far it is.
    const history = await sql`select from pg_namespace where nspname = ${historySchemaOf(deployment)}`;
    if (history.length > 0 || (await readPosition(sql, deployment))) continue;
    await dropWhenFree(sql, async (tx) => {
      // A Ponder that found nothing may have made empty tables.
      await tx.unsafe(`drop schema if exists "${schema_name}" cascade`);
      await tx`delete from offchain.deployment where schema_name = ${schema_name}`;
    });
  }
}

/** Notes that a chain has replaced blocks that were final: none of its deployments is followed any more. */
export async function abandonDeployments(sql: Sql, { chainId }: Chain): Promise<void> {
  await sql`
    update offchain.deployment
    set is_abandoned = true
    where chain_id = ${chainId}
  `;
}

/** The deployment whose tables are in a schema. */
export async function findBySchema(sql: Sql, schemaName: string): Promise<Deployment | undefined> {
  return find(sql, sql`schema_name = ${schemaName}`);
}

/** Notes that all of a deployment's history is loaded: Ponder may take it over. */
export async function markLoaded(sql: Sql, { schema_name }: Deployment): Promise<void> {
  await sql`
    update offchain.deployment
    set history_loaded_at = now()
    where schema_name = ${schema_name}
  `;
}

/** The newest generation of a fingerprint. */
export async function findDeployment(
  sql: Sql,
  { network, fingerprint }: { network: Network; fingerprint: string },
): Promise<Deployment | undefined> {
  return find(sql, sql`network = ${network} and fingerprint = ${fingerprint} order by generation desc`);
}

/** The deployment that was made last for a chain's id and whose genesis block is known. */
async function findLastOfChain(sql: Sql, { chainId }: Chain): Promise<Deployment | undefined> {
  return find(sql, sql`chain_id = ${chainId} and genesis_hash <> '' order by created_at desc`);
}

/** The deployment of a network that was made last, of whatever version. */
export async function findNewest(sql: Sql, { network }: { network: Network }): Promise<Deployment | undefined> {
  return find(sql, sql`network = ${network} order by created_at desc`);
}

/** All deployments of a chain that aren't abandoned. */
export async function listOfChain(sql: Sql, chain: Chain): Promise<Deployment[]> {
  const deployments = await list(sql, sql`chain_id = ${chain.chainId} and not is_abandoned`);
  return deployments.filter((deployment) => isOfChain(deployment, chain));
}

/** The deployments of a network that are of chains with other ids. */
export async function listOfOtherChains(
  sql: Sql,
  { network, chainId }: { network: Network; chainId: number },
): Promise<Deployment[]> {
  return list(sql, sql`network = ${network} and chain_id <> ${chainId}`);
}

/** Notes up to where a deployment's blocks are final. */
export async function noteFinalized(
  sql: Sql,
  { schema_name }: Deployment,
  { number, hash }: { number: number; hash: string },
): Promise<void> {
  await sql`
    update offchain.deployment
    set
      finalized_block = ${number},
      finalized_hash = ${hash}
    where schema_name = ${schema_name}
  `;
}

/** The deployment that readers of a network see, if one was ever complete. */
export async function findPublished(sql: ISql, { network }: { network: Network }): Promise<Deployment | undefined> {
  return find(sql, sql`network = ${network} and published_at is not null order by published_at desc`);
}

/** `where`: a condition, and the order in which the first one is wanted. */
async function find(sql: ISql, where: Fragment): Promise<Deployment | undefined> {
  const [first] = await list(sql, sql`${where} limit 1`);
  return first;
}

function list(sql: ISql, where: Fragment): Promise<Deployment[]> {
  return sql<Deployment[]>`select ${columns(sql)} from offchain.deployment where ${where}`;
}

const columns = (sql: ISql) => sql`
  schema_name,
  network,
  chain_id::float8,
  fingerprint,
  generation,
  genesis_hash,
  history_block::float8,
  history_hash,
  history_loaded_at,
  created_at,
  published_at,
  finalized_block::float8,
  finalized_hash,
  is_abandoned
`;
