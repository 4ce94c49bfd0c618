/** Runs in Ponder's process before Ponder does. */
import "./ponder-patches.ts";

// When whoever forked this process dies, however it died, so does this.
process.once("disconnect", () => process.exit(1));
process.channel?.unref();

/**
 * Columns that our indexing functions read beside the ones that Ponder needs itself: Wyvern's sales name their currency
 * in the call only.
 */
const READ_COLUMNS = ["transaction.input"];

type FilterModule = { defaultLogFilterInclude: string[]; requiredLogFilterInclude: string[] };

// Out of its cache Ponder reads all 35 columns of block and transaction until each of our events has come 100 times, which
// most never do. The lists are its own, and it makes its filters from them.
const { defaultLogFilterInclude, requiredLogFilterInclude } = (await import(
  new URL("runtime/filter.js", import.meta.resolve("ponder")).href
)) as FilterModule;
defaultLogFilterInclude.splice(0, Infinity, ...requiredLogFilterInclude, ...READ_COLUMNS);
