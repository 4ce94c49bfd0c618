import type { Sql } from "postgres";
import type { Network } from "../config.ts";
import { findHeadBlock } from "./network.ts";

/** After this time contracts are asked again on the same block: the node that answered may have been behind. */
const AGAIN_MS = 12_000;

/**
 * Creates a function that says whether contracts may answer anything else than at its last `true`: there is a new block,
 * or it was some time ago. `againMs`: how long.
 */
export function createNewBlockCheck(
  sql: Sql,
  { network, againMs = AGAIN_MS }: { network: Network; againMs?: number },
): () => Promise<boolean> {
  let last = { block: "", at: -Infinity };
  return async () => {
    const block = await findHeadBlock(sql, { network });
    const now = performance.now();
    if (block === last.block && now - last.at < againMs) return false;
    last = { block, at: now };
    return true;
  };
}
