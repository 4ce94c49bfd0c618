/** Runs in Ponder's process before Ponder does. */
import { userInfo } from "node:os";
import { patchModules } from "../../module-patch.ts";
import { BUNDLED, takeFromBundle } from "./bundle.ts";
import "./ponder-modules.ts";
import { PONDER_PATCHES } from "./ponder-patches.ts";
import "./ponder-registry.ts";

patchModules(PONDER_PATCHES);
takeFromBundle(Object.keys(BUNDLED) as (keyof typeof BUNDLED)[]);

// Settings of sessions that its driver takes, and ours doesn't.
delete process.env.PGOPTIONS;
// Who connects where DATABASE_URL names nobody: our driver asks the system, Ponder's only looks here, where a container
// has nothing and `sudo -E` somebody else.
try {
  process.env.USER = userInfo().username;
} catch {
  // The account has no name. Both take what the environment says.
}

// When the parent process dies, in whatever way, so does this one.
process.once("disconnect", () => process.exit(1));
process.channel?.unref();
