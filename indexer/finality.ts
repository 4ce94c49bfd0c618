import type { Sql } from "postgres";
import { createPublicClient, http } from "viem";

const ANSWER_TIMEOUT_MS = 10_000;
const CHECK_EVERY_MS = 15_000;

/** Nodes behind one URL may disagree for a moment. */
const CHECKS_THAT_AGREE = 2;

/**
 * Looks now and then, without being waited for. What is returned says whether the last looks all found that the block
 * which a deployment took for final is gone.
 */
export function watchFinality(
  sql: Sql,
  { chainId, rpcUrls }: { chainId: number; rpcUrls: string[] },
): (finalizedBlock: number) => boolean {
  let checkedAt = 0;
  let replacedChecks = 0;
  return (finalizedBlock) => {
    if (Date.now() - checkedAt > CHECK_EVERY_MS) {
      checkedAt = Date.now();
      void isFinalBlockReplaced(sql, { chainId, rpcUrls, finalizedBlock })
        .then((isReplaced) => (replacedChecks = isReplaced ? replacedChecks + 1 : 0))
        .catch(() => {});
    }
    return replacedChecks >= CHECKS_THAT_AGREE;
  };
}

/**
 * Whether the chain no longer has a block that Ponder took for final: a reorg deeper than it can undo. Ponder itself says
 * the same of a node that merely lags, so the nodes are asked for that block: one that still has it is believed, and
 * where none answers nothing is known.
 */
async function isFinalBlockReplaced(
  sql: Sql,
  { chainId, rpcUrls, finalizedBlock }: { chainId: number; rpcUrls: string[]; finalizedBlock: number },
): Promise<boolean> {
  const kept = await findKeptBlock(sql, { chainId, finalizedBlock });
  if (!kept) return false;
  const hashes = await Promise.all(
    rpcUrls.map(async (url) => {
      const client = createPublicClient({ transport: http(url, { timeout: ANSWER_TIMEOUT_MS, retryCount: 0 }) });
      const block = await client.getBlock({ blockNumber: BigInt(kept.number) }).catch(() => undefined);
      return block?.hash;
    }),
  );
  const answers = hashes.filter((hash) => hash !== undefined);
  return answers.length > 0 && answers.every((hash) => hash !== kept.hash);
}

/** The last block up to the finalized one of which Ponder has kept anything. */
async function findKeptBlock(
  sql: Sql,
  { chainId, finalizedBlock }: { chainId: number; finalizedBlock: number },
): Promise<{ number: number; hash: string } | undefined> {
  const [block] = await sql<{ number: number; hash: string }[]>`
    select
      number::float8,
      hash
    from ponder_sync.blocks
    where chain_id = ${chainId}
      and number <= ${finalizedBlock}
    order by number desc
    limit 1
  `;
  return block;
}
