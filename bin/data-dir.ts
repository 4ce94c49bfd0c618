import { accessSync, constants, mkdirSync } from "node:fs";
import { type Config, ConfigError } from "../config.ts";

/** Makes the folder of DATA_DIR where it is missing. @throws ConfigError where nothing can be written there */
export function makeDataDir({ dataDir }: Config): void {
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { message } = error as Error;
    throw new ConfigError(`DATA_DIR ${dataDir} can't be used (${message}). Expected a folder that may be written.`, {
      cause: error,
    });
  }
}
