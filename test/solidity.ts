import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Abi, Hex } from "viem";

const CONTRACTS_DIRECTORY = join(import.meta.dirname, "contracts");
const IMPORT_DIRECTORIES = [CONTRACTS_DIRECTORY, join(import.meta.dirname, "../node_modules")];

const SETTINGS = {
  evmVersion: "cancun",
  optimizer: { enabled: true, runs: 200 },
  outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
};

/** A contract ready to be deployed. */
export type Artifact = { abi: Abi; bytecode: Hex };

type Compiler = { compile: (input: string, callbacks: { import: typeof findImport }) => string };
type Output = {
  errors?: { severity: string; formattedMessage: string }[];
  contracts: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>;
};

/**
 * Compiles files of `test/contracts`, each with one contract of its name.
 *
 * @throws Error with the compiler's own messages
 */
export function compile<Name extends string>(...names: Name[]): Record<Name, Artifact> {
  const solc = createRequire(import.meta.url)("solc") as Compiler;
  const sources = Object.fromEntries(
    names.map((name) => [`${name}.sol`, { content: readFileSync(join(CONTRACTS_DIRECTORY, `${name}.sol`), "utf8") }]),
  );
  const input = JSON.stringify({ language: "Solidity", sources, settings: SETTINGS });
  const output = JSON.parse(solc.compile(input, { import: findImport })) as Output;
  const errors = output.errors?.filter(({ severity }) => severity === "error") ?? [];
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join("\n"));
  const artifacts = names.map((name): [Name, Artifact] => {
    const { abi, evm } = output.contracts[`${name}.sol`]![name]!;
    return [name, { abi, bytecode: `0x${evm.bytecode.object}` }];
  });
  return Object.fromEntries(artifacts) as Record<Name, Artifact>;
}

function findImport(path: string): { contents: string } | { error: string } {
  const file = IMPORT_DIRECTORIES.map((directory) => join(directory, path)).find((candidate) => existsSync(candidate));
  return file ? { contents: readFileSync(file, "utf8") } : { error: `${path} is not installed` };
}
