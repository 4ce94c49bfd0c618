import { rm } from "node:fs/promises";
import type { Sql, TransactionSql } from "postgres";
import type { Config } from "../config.ts";
import { loadDirectoryOf } from "./load-directory.ts";
import { type Deployment, findPublished, historySchemaOf } from "./deployment.ts";
import { isLocked } from "./lock.ts";
import { prunePonderSync } from "./ponder/ponder-sync.ts";
import { dropWhenFree, isBusy, lockPublication } from "./publication.ts";

const PRUNE_EVERY_MS = 300_000;

/** A version that nobody has followed for so long is given up. One that is stopped for less goes on where it was. */
const GIVEN_UP_MS = 3_600_000;

/**
 * Drops the deployments of a network that are older than the published one, and tables that no deployment has: a backup
 * was put back beside them. @throws Error that `isBusy` knows
 */
async function pruneDeployments(
  sql: Sql,
  { config, published }: { config: Config; published: Deployment },
): Promise<void> {
  const old = await sql<DeploymentName[]>`
    select
      schema_name,
      created_at
    from offchain.deployment
    where network = ${published.network}
      and created_at < (select created_at from offchain.deployment where schema_name = ${published.schema_name})
  `;
  for (const deployment of old) await dropDeployment(sql, { config, deployment, published });
  // A deployment is noted before its schema is made, and forgotten with it.
  const left = await sql<{ name: string }[]>`
    select nspname as name
    from pg_namespace
    where nspname ~ ${`^onchain_${published.network}_[0-9a-f]{12}_[0-9]+(_history)?$`}
      and not exists (
        select
        from offchain.deployment
        where nspname in (schema_name, schema_name || '_history')
      )
  `;
  for (const { name } of left) await dropWhenFree(sql, (tx) => tx.unsafe(`drop schema if exists "${name}" cascade`));
}

/**
 * Makes the function that drops, now and then, what isn't needed any more: older deployments that couldn't be dropped
 * sooner, deployments of other versions that nobody follows any more, and what no Ponder reads again. Only to be called
 * while the published deployment is the newest, and no Ponder of ours runs on an older one: one that begins just then would
 * make its tables once more.
 */
export function createPruning(sql: Sql, { config }: { config: Config }): (published: Deployment) => Promise<void> {
  let pruned = { schema: "", at: -Infinity };
  const unfollowedSince = new Map<string, number>();

  const pruneGivenUp = async (published: Deployment) => {
    const others = await sql<(DeploymentName & Pick<Deployment, "network" | "fingerprint">)[]>`
      select
        schema_name,
        created_at,
        network,
        fingerprint
      from offchain.deployment
      where network = ${published.network}
        and fingerprint <> ${published.fingerprint}
    `;
    for (const deployment of others) {
      const { schema_name } = deployment;
      if (await isLocked(sql, deployment)) {
        unfollowedSince.delete(schema_name);
        continue;
      }
      const since = unfollowedSince.get(schema_name) ?? performance.now();
      unfollowedSince.set(schema_name, since);
      if (performance.now() - since < GIVEN_UP_MS) continue;
      // It may be followed again by now.
      const isWanted = (tx: TransactionSql) => isLocked(tx, deployment);
      await dropDeployment(sql, { config, deployment, published, isWanted });
    }
  };

  return async (published) => {
    const { schema_name: schema } = published;
    if (pruned.schema === schema && performance.now() - pruned.at < PRUNE_EVERY_MS) return;
    pruned = { schema, at: performance.now() };
    // There may be much: a step at each call.
    if (!(await prunePonderSync(sql, { chainId: published.chain_id })).isDone) pruned.at = -Infinity;
    try {
      await pruneDeployments(sql, { config, published });
      await pruneGivenUp(published);
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
  };
}

type DeploymentName = Pick<Deployment, "schema_name" | "created_at">;

/** Drops a deployment, unless another one than `published` has been published since: it may be this one. */
async function dropDeployment(sql: Sql, { config, deployment, published, isWanted }: DropOptions): Promise<void> {
  const { schema_name } = deployment;
  const isDropped = await dropWhenFree(sql, async (tx) => {
    await lockPublication(tx, published);
    const seen = await findPublished(tx, published);
    if (seen?.schema_name !== published.schema_name || (await isWanted?.(tx))) return false;
    await tx.unsafe(`drop schema if exists "${schema_name}", "${historySchemaOf(deployment)}" cascade`);
    await tx`delete from offchain.deployment where schema_name = ${schema_name}`;
    return true;
  });
  // A load that never ended may have left files.
  if (isDropped) await rm(loadDirectoryOf(config, deployment), { recursive: true, force: true });
}
type DropOptions = {
  config: Config;
  deployment: DeploymentName;
  published: Deployment;
  isWanted?: (tx: TransactionSql) => Promise<boolean>;
};
