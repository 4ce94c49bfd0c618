/** Runs in Ponder's process before Ponder does. */
import { patchModules } from "../../module-patch.ts";
import { BUNDLED, takeFromBundle } from "./bundle.ts";
import "./ponder-modules.ts";
import { PONDER_PATCHES } from "./ponder-patches.ts";
import "./ponder-registry.ts";

patchModules(PONDER_PATCHES);
takeFromBundle(Object.keys(BUNDLED) as (keyof typeof BUNDLED)[]);

// Settings of sessions that its driver takes, and ours doesn't.
delete process.env.PGOPTIONS;

// When the parent process dies, in whatever way, so does this one.
process.once("disconnect", () => process.exit(1));
process.channel?.unref();
