import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config, Network } from "../config.ts";

const ROOT = join(import.meta.dirname, "..");

/**
 * All that Ponder hashes into its build id, because it refuses a schema that another build made, and all else that makes
 * rows: the history engine.
 */
const DEFINING_FILES = [
  "ponder.config.ts",
  "ponder.schema.ts",
  "sources.ts",
  "abis/*.ts",
  "src/**/*.ts",
  "history/**/*.ts",
];

/** To be raised with a change of how Ponder is used, as in `ponder/`, where tables of before may lack rows. */
const HEAD_VERSION = 1;

/** Hash of all that decides what the tables hold: code, chain id, range, contracts. Equal hashes, equal tables. */
export function fingerprintOf(config: Config, { network, chainId }: { network: Network; chainId: number }): string {
  const { startBlock, endBlock, contracts, firstGenerationContracts } = config.networks[network]!;
  const hash = createHash("sha256");
  // These two interfaces are only the worker's and the API's. How nodes are asked decides no row.
  const exclude = ["**/*.test.ts", "abis/contract.ts", "abis/multicall3.ts", "history/rpc/**"];
  for (const file of DEFINING_FILES.flatMap((pattern) => globSync(pattern, { cwd: ROOT, exclude })).toSorted())
    hash.update(file).update(readFileSync(join(ROOT, file)));
  const { version } = JSON.parse(readFileSync(join(ROOT, "node_modules/ponder/package.json"), "utf8")) as {
    version: string;
  };
  const { cryptopunksAddresses: punks, seaportAddresses: seaports } = config;
  const settings = {
    chainId,
    startBlock,
    endBlock,
    contracts,
    firstGenerationContracts,
    punks,
    seaports,
    ponder: version,
    head: HEAD_VERSION,
  };
  return hash.update(JSON.stringify(settings)).digest("hex").slice(0, 12);
}
