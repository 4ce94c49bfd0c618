import { ensureBundle } from "../indexer/ponder/bundle-builder.ts";
import { takeFromBundle } from "../indexer/ponder/bundle.ts";

/** Runs `main` with packages from the bundle. It imports them dynamically: import statements are resolved too early. */
export async function runBundled(main: () => Promise<unknown>): Promise<void> {
  // If the parent process dies meanwhile, so does this one.
  const end = () => process.exit(1);
  process.once("disconnect", end);
  await ensureBundle();
  process.off("disconnect", end);
  takeFromBundle();
  await main();
}
