/** Runs in Ponder's process before Ponder does. */
import "./ponder-modules.ts";
import "./ponder-patches.ts";
import "./ponder-registry.ts";

// When whoever forked this process dies, however it died, so does this.
process.once("disconnect", () => process.exit(1));
process.channel?.unref();
