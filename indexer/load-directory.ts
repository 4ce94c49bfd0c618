import { lchown, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Config } from "../config.ts";
import type { Deployment } from "./deployment.ts";

/** Where a load spills what doesn't fit into memory. No other deployment, of whatever database, has the same folder. */
export function loadDirectoryOf(
  { dataDir }: Pick<Config, "dataDir">,
  { schema_name, created_at }: Pick<Deployment, "schema_name" | "created_at">,
): string {
  return join(dataDir, "history", `${schema_name}_${created_at.getTime()}`);
}

/**
 * Gives what a load has left, as one that was told to end, to whom DATA_DIR belongs, where we are root: the service, which
 * has a user of its own, goes on with it. That user may have put links there, by which we would give away what is ours:
 * none is followed.
 */
export async function giveLoadToOwner(
  { dataDir }: Pick<Config, "dataDir">,
  deployment: Pick<Deployment, "schema_name" | "created_at">,
): Promise<void> {
  if (process.getuid?.() !== 0) return;
  try {
    const { uid, gid } = await stat(dataDir);
    const root = await realpath(dataDir);
    const directory = loadDirectoryOf({ dataDir: root }, deployment);
    await lchown(dirname(directory), uid, gid);
    if ((await realpath(directory)) !== directory) return;
    const files = (await readdir(directory)).map((file) => join(directory, file));
    for (const path of [...files, directory]) await lchown(path, uid, gid);
  } catch (error) {
    // A load that is complete leaves nothing.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
