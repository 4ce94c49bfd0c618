import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Abi, Hex } from "viem";

/** What a chain and its clients need of a compiled contract. */
export type Artifact = { abi: Abi; bytecode: Hex };

/** Where the compiled contracts lie, so that starting the demo takes no compiler. */
export const ARTIFACTS_PATH = join(import.meta.dirname, "artifacts.json");

const CONTRACTS_DIRECTORY = join(import.meta.dirname, "contracts");
const NODE_MODULES = join(import.meta.dirname, "..", "node_modules");

/** No hash of sources in the bytecode: it changes with the code alone, not with a comment. */
const SETTINGS = {
  evmVersion: "cancun",
  optimizer: { enabled: true, runs: 200 },
  metadata: { appendCBOR: false, bytecodeHash: "none" },
  outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
};

type CompilerOutput = {
  errors?: { severity: string; formattedMessage: string }[];
  contracts: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>;
};

/**
 * The text of `artifacts.json`: every contract of `demo/contracts` that can be deployed, by name, a line each.
 *
 * @throws Error with the compiler's own messages
 */
export function compileContracts(): string {
  const solc = createRequire(import.meta.url)("solc") as {
    compile: (input: string, callbacks: { import: typeof findImport }) => string;
  };
  const files = readdirSync(CONTRACTS_DIRECTORY).toSorted();
  const sources = Object.fromEntries(
    files.map((file) => [`demo/${file}`, { content: readFileSync(join(CONTRACTS_DIRECTORY, file), "utf8") }]),
  );
  const input = JSON.stringify({ language: "Solidity", sources, settings: SETTINGS });
  const output = JSON.parse(solc.compile(input, { import: findImport })) as CompilerOutput;

  const errors = output.errors?.map((error) => error.formattedMessage) ?? [];
  if (errors.length > 0) throw new Error(`The demo contracts do not compile cleanly:\n${errors.join("\n")}`);

  const lines: string[] = [];
  for (const source of Object.keys(sources)) {
    for (const [name, { abi, evm }] of Object.entries(output.contracts[source] ?? {})) {
      const isLibrary = abi.length === 0;
      if (isLibrary) continue;
      const artifact: Artifact = { abi, bytecode: `0x${evm.bytecode.object}` };
      lines.push(`${JSON.stringify(name)}: ${JSON.stringify(artifact)}`);
    }
  }
  return `{\n${lines.join(",\n")}\n}\n`;
}

function findImport(path: string): { contents: string } | { error: string } {
  const file = join(NODE_MODULES, path);
  return existsSync(file) ? { contents: readFileSync(file, "utf8") } : { error: `${path} is not installed` };
}

if (import.meta.main) writeFileSync(ARTIFACTS_PATH, compileContracts());
