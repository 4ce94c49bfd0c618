import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { type Config, ConfigError } from "../config.ts";

/** Makes the folder of DATA_DIR where it is missing. @throws ConfigError where nothing can be written there */
export function makeDataDir({ dataDir }: Config): void {
  try {
    makeFolders(dataDir);
    accessSync(`${dataDir}/.`, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { message } = error as Error;
    throw new ConfigError(`DATA_DIR ${dataDir} can't be used (${message}). Expected a folder that may be written.`, {
      cause: error,
    });
  }
}

/** One by one: what Node does by itself never ends on a file system that refuses as if the folder above were missing. */
function makeFolders(path: string): void {
  if (existsSync(path)) return;
  makeFolders(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process was quicker.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
