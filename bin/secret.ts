import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

/**
 * A secret that is made once and kept where only its owner can read it. It comes to its place whole, and an empty file,
 * as a crash may leave one, is a missing one.
 */
export function readOrCreateSecret(file: string, create: () => string): string {
  const kept = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  if (kept !== "") return kept;
  const secret = create();
  writeFileSync(`${file}.new`, secret, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
  return secret;
}
