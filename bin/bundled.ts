import { ensureBundle } from "../indexer/ponder/bundle-builder.ts";

/** Runs what imports packages with these from the bundle. By a statement it would be looked for them before. */
export async function runBundled(main: () => Promise<unknown>): Promise<void> {
  // When whoever forked this process dies meanwhile, so does this.
  const end = () => process.exit(1);
  process.once("disconnect", end);
  await ensureBundle();
  process.off("disconnect", end);
  await import("../indexer/ponder/bundle-preload.ts");
  await main();
}
