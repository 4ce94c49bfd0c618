/** `npm run indexer`: follows the configured networks into the database of DATABASE_URL. */
import { takeFromBundle } from "../indexer/bundle.ts";
import { ensureBundle } from "../indexer/bundle-builder.ts";

// When whoever forked this process dies meanwhile, so does this.
const end = () => process.exit(1);
process.once("disconnect", end);
await ensureBundle();
process.off("disconnect", end);
takeFromBundle("viem", "zod");
// Imported by a statement, it would be looked for before.
await import("./indexer-main.ts");
