import type { Sql } from "postgres";
import { createPublicClient, type PublicClient } from "viem";
import type { Chain } from "../history/chain-log.ts";
import type { Deployment } from "./deployment.ts";
import { transportTo } from "./rpc.ts";

const CHECK_EVERY_MS = 15_000;

/** Nodes behind one URL may disagree for a moment. */
const CHECKS_THAT_AGREE = 2;

/** A block and its hash, as they were when they were taken for final. */
type FinalBlock = { number: number; hash: string };

/**
 * Looks now and then, without being waited for. What is returned says whether the last looks all found that a block
 * which the deployment took for final is gone. `finalizedBlock`: Ponder's, undefined before it has begun.
 */
export function watchFinality(
  sql: Sql,
  { rpcUrls, chain }: { rpcUrls: string[]; chain: Chain },
): (deployment: Deployment, finalizedBlock: number | undefined) => boolean {
  const clients = rpcUrls.map((url) => createPublicClient({ transport: transportTo(url, chain) }));
  let checkedAt = -Infinity;
  let replacedChecks = 0;
  return (deployment, finalizedBlock) => {
    if (performance.now() - checkedAt > CHECK_EVERY_MS) {
      checkedAt = performance.now();
      void findKeptBlock(sql, { deployment, finalizedBlock })
        .then((kept) => kept !== undefined && isReplaced(kept, clients))
        .then((isGone) => (replacedChecks = isGone ? replacedChecks + 1 : 0))
        .catch(() => {});
    }
    return replacedChecks >= CHECKS_THAT_AGREE;
  };
}

/**
 * Whether the chain no longer has a block that was taken for final: a reorg deeper than Ponder can undo. Ponder itself
 * says the same of a node that merely lags, so the nodes are asked for that block: one that still has it is believed, and
 * where none answers nothing is known.
 */
async function isReplaced(kept: FinalBlock, clients: PublicClient[]): Promise<boolean> {
  const hashes = await Promise.all(
    clients.map(async (client) => {
      const block = await client.getBlock({ blockNumber: BigInt(kept.number) }).catch(() => undefined);
      return block?.hash;
    }),
  );
  const answers = hashes.filter((hash) => hash !== undefined);
  return answers.length > 0 && answers.every((hash) => hash !== kept.hash);
}

/** The last block up to Ponder's finalized one of which Ponder has kept anything, else the last one of history. */
async function findKeptBlock(
  sql: Sql,
  { deployment, finalizedBlock }: { deployment: Deployment; finalizedBlock: number | undefined },
): Promise<FinalBlock | undefined> {
  const { chain_id, history_block, history_hash } = deployment;
  const history =
    history_block === null || history_hash === null ? undefined : { number: history_block, hash: history_hash };
  if (finalizedBlock === undefined) return history;
  const [block] = await sql<FinalBlock[]>`
    select
      number::float8,
      hash
    from ponder_sync.blocks
    where chain_id = ${chain_id}
      and number > ${history_block ?? -1}
      and number <= ${finalizedBlock}
    order by number desc
    limit 1
  `;
  return block ?? history;
}
