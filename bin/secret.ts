import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { ConfigError } from "../config.ts";

/**
 * A secret that is made once and kept where only its owner can read it. It comes to its place whole, and an empty file,
 * as a crash may leave one, is a missing one.
 *
 * @throws ConfigError where it can't be written
 */
export function readOrCreateSecret(file: string, create: () => string): string {
  const kept = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  if (kept !== "") return kept;
  const secret = create();
  try {
    writeFileSync(`${file}.new`, secret, { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file);
  } catch (error) {
    const { message } = error as Error;
    throw new ConfigError(`${file} can't be written (${message}). Expected a disk that has room.`, { cause: error });
  }
  return secret;
}
