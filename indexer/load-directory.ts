import { join } from "node:path";
import type { Config } from "../config.ts";
import type { Deployment } from "./deployment.ts";

/** Where a load spills what doesn't fit into memory. No other deployment, of whatever database, has the same folder. */
export function loadDirectoryOf(
  { dataDir }: Config,
  { schema_name, created_at }: Pick<Deployment, "schema_name" | "created_at">,
): string {
  return join(dataDir, "history", `${schema_name}_${created_at.getTime()}`);
}
