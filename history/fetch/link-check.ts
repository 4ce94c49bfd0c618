import type { BlockHeader } from "./block-header.ts";
import type { FetchedRange } from "./complete-range.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { voteOnBlock } from "./vote.ts";

/** So often a range that doesn't follow the one before it is fetched again before the work is given up. */
const MAX_BREAKS = 5;

/**
 * Whether a range follows the one before it, which is the last one that did.
 *
 * @throws Error where so many in a row didn't that the work is given up
 */
export type LinkCheck = (range: Pick<FetchedRange, "fromBlock" | "firstHeader" | "lastHeader">) => Promise<boolean>;

/** Checks that ranges, as they come in order, are of one chain. Where they aren't, the nodes vote on where they meet. */
export function createLinkCheck(pool: RpcPool, { onProblem }: { onProblem: (line: string) => void }): LinkCheck {
  let last: BlockHeader | undefined;
  let breaks = 0;
  return async ({ fromBlock, firstHeader, lastHeader }) => {
    if (!last || last.hash === firstHeader.parentHash) {
      breaks = 0;
      last = lastHeader;
      return true;
    }
    // Each of them may be of another chain. The logs fit the hashes of their blocks, whoever named the parent.
    const parent = `block ${last.number}, ${last.hash},`;
    if (++breaks > MAX_BREAKS) throw new Error(`Block ${fromBlock} doesn't name ${parent} as its parent.`);
    onProblem(`Block ${fromBlock} doesn't name ${parent} as its parent. It is fetched again.`);
    const hash = await voteOnBlock(pool, { number: last.number, onProblem });
    if (hash) last = { ...last, hash };
    return false;
  };
}
