import type { BlockHeader } from "./block-header.ts";
import type { FetchedRange } from "./complete-range.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import { voteOnBlock } from "./vote.ts";

/** After so many ranges in a row that don't follow the one before them, the work is given up. */
const MAX_BREAKS = 5;

/** Whether a range follows the last range that was accepted. @throws Error where too many in a row didn't */
type LinkCheck = (range: Pick<FetchedRange, "fromBlock" | "firstHeader" | "lastHeader">) => Promise<boolean>;

/** Checks that ranges, in order, belong to one chain. Where they don't, the nodes vote on the block where they meet. */
export function createLinkCheck(pool: RpcPool, { onProblem }: { onProblem: (line: string) => void }): LinkCheck {
  let last: BlockHeader | undefined;
  let breaks = 0;
  return async ({ fromBlock, firstHeader, lastHeader }) => {
    // Where the range's first numbers are skipped, its first header is the last one of the range before.
    if (!last || last.hash === firstHeader.parentHash || last.hash === firstHeader.hash) {
      breaks = 0;
      last = lastHeader;
      return true;
    }
    // Either of the two may belong to another chain: logs are only known to fit their own blocks' hashes, not the
    // parent's.
    const parent = `block ${last.number}, ${last.hash},`;
    if (++breaks > MAX_BREAKS) throw new Error(`Block ${fromBlock} doesn't name ${parent} as its parent.`);
    onProblem(`Block ${fromBlock} doesn't name ${parent} as its parent. It is fetched again.`);
    const hash = await voteOnBlock(pool, { number: last.number, onProblem });
    if (hash) last = { ...last, hash };
    return false;
  };
}
