import type { Patch } from "../../module-patch.ts";
import { DATABASE_PATCHES } from "./patches/database.ts";
import { HEAD_PATCHES } from "./patches/head.ts";
import { LARGE_BLOCK_PATCHES } from "./patches/large-block.ts";
import { LOG_PATCHES } from "./patches/log.ts";
import { RANGE_PATCHES } from "./patches/range.ts";
import { ROW_CACHE_PATCHES } from "./patches/row-cache.ts";
import { START_PATCHES } from "./patches/start.ts";

/** Changes to Ponder 0.17.7, made as it is loaded. A version whose source differs in one of these places is refused. */
export const PONDER_PATCHES: readonly Patch[] = [
  ...START_PATCHES,
  ...ROW_CACHE_PATCHES,
  ...DATABASE_PATCHES,
  ...HEAD_PATCHES,
  ...LOG_PATCHES,
  ...LARGE_BLOCK_PATCHES,
  ...RANGE_PATCHES,
];
