import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { type Config, ConfigError, isVariable, readConfig } from "./config.ts";

/**
 * The configuration of this process: its environment and the `.env` file beside package.json. A bad variable ends the
 * process with one line. For entry files only.
 */
export function readConfigOrExit(): Config {
  try {
    for (const [name, value] of Object.entries(readEnvFile())) process.env[name] ??= value;
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}

/**
 * Names that are set for this service by their look, in `.env` or with a network in front, and that nothing reads: slips
 * of the pen, as `MAINNET_CONTRACT`, with which the whole chain would be indexed.
 */
export function listUnknownNames(env: Record<string, string | undefined>): string[] {
  const own = Object.keys(env).filter((name) => /^(MAINNET|TESTNET)_/.test(name));
  return [...new Set([...own, ...Object.keys(readEnvFile())])].filter((name) => !isVariable(name));
}

/** A line for the operator of each of them, and of each line of `.env` that sets nothing. */
export const describeUnread = (env: Record<string, string | undefined>): string[] => [
  ...listUnknownNames(env).map(
    (name) => `${name} is set, but nothing reads it. Expected one of the variables in the README.`,
  ),
  ...listIdleLines(readEnvText()).map((line) => `Line ${line} of .env sets nothing. Expected NAME=VALUE or a comment.`),
];

/**
 * Numbers of the lines of a `.env` file, from 1, that are no comments and set nothing, as `PORT: 4000`. Values in quotes
 * have lines of any kind.
 */
export function listIdleLines(text: string): number[] {
  const unquoted = text.replaceAll(/=[ \t]*(["'`])[^]*?\1/g, (value) => value.replaceAll(/[^\n]+/g, "="));
  return unquoted.split("\n").flatMap((line, place) => (/^\s*($|#)|=/.test(line) ? [] : [place + 1]));
}

const readEnvFile = (): NodeJS.Dict<string> => parseEnv(readEnvText());

/**
 * The text of `.env`, empty where there is none.
 *
 * @throws ConfigError where there is one that can't be read, of which loadEnvFile() says that it holds no text
 */
function readEnvText(): string {
  try {
    // Some editors begin a file with a byte order mark, which would be part of the first name.
    return readFileSync(".env", "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "";
    throw new ConfigError(`.env can't be read (${message}). Expected a file that this user may read, or none.`, {
      cause: error,
    });
  }
}
