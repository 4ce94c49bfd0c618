import type { Sql } from "postgres";
import type { PublicClient } from "viem";
import type { Deployment } from "./deployment.ts";
import { requirePonderSync } from "./ponder/ponder-sync.ts";

const { getFinalityBlockCount } = (await import(
  new URL("utils/finality.js", import.meta.resolve("ponder")).href
)) as FinalityModule;
type FinalityModule = { getFinalityBlockCount: (options: { chain: { id: number } }) => number };

/**
 * Fixes, once and for all, where a deployment's history ends and Ponder goes on: one below the last block that is final by
 * the node's word and by Ponder's own measure, and below the last block to index, so that Ponder has one to begin with.
 */
export async function fixHistory(
  sql: Sql,
  deployment: Deployment,
  { client, startBlock, endBlock }: { client: PublicClient; startBlock: number; endBlock: number | undefined },
): Promise<Deployment> {
  const final = await findFinalBlock(client, { chainId: deployment.chain_id });
  const history_block = Math.max(startBlock, Math.min(final, endBlock ?? final)) - 1;
  const block = history_block < startBlock ? undefined : await client.getBlock({ blockNumber: BigInt(history_block) });
  const history_hash = block?.hash ?? null;
  await requirePonderSync(sql, { chainId: deployment.chain_id, firstBlock: history_block + 1 });
  await sql`
    update offchain.deployment
    set
      history_block = ${history_block},
      history_hash = ${history_hash}
    where schema_name = ${deployment.schema_name}
      and history_block is null
  `;
  return { ...deployment, history_block, history_hash };
}

/**
 * The last final block: by depth alone where the chain doesn't know the tag `finalized`, or calls the genesis block so, as
 * X Layer does for ever. All blocks would be Ponder's then.
 */
async function findFinalBlock(client: PublicClient, { chainId }: { chainId: number }): Promise<number> {
  const [latest, finalized] = await Promise.all([
    client.getBlock({ blockTag: "latest" }),
    client.getBlock({ blockTag: "finalized" }).catch(() => undefined),
  ]);
  const byDepth = Number(latest.number) - getFinalityBlockCount({ chain: { id: chainId } });
  return Math.max(0, Math.min(byDepth, Number(finalized?.number ?? 0) || byDepth));
}
