import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Abi, Hex } from "viem";

const CONTRACTS_DIRECTORY = join(import.meta.dirname, "contracts");
const NODE_MODULES = join(import.meta.dirname, "../node_modules");

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
 * Compiles files of `test/contracts`, all of them where none is named. By contract's name.
 *
 * @throws Error with the compiler's own messages
 */
export function compile<Name extends string>(...names: Name[]): Record<Name, Artifact> {
  const solc = createRequire(import.meta.url)("solc") as Compiler;
  const files = names.length > 0 ? names.map((name) => `${name}.sol`) : readdirSync(CONTRACTS_DIRECTORY);
  const sources = Object.fromEntries(
    files.map((file) => [file, { content: readFileSync(join(CONTRACTS_DIRECTORY, file), "utf8") }]),
  );
  const input = JSON.stringify({ language: "Solidity", sources, settings: SETTINGS });
  const output = JSON.parse(solc.compile(input, { import: findImport })) as Output;
  const errors = output.errors?.filter(({ severity }) => severity === "error") ?? [];
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join("\n"));
  const artifacts = files.flatMap((file) =>
    Object.entries(output.contracts[file] ?? {}).map(([name, { abi, evm }]): [string, Artifact] => [
      name,
      { abi, bytecode: `0x${evm.bytecode.object}` },
    ]),
  );
  return Object.fromEntries(artifacts) as Record<Name, Artifact>;
}

function findImport(path: string): { contents: string } | { error: string } {
  const file = join(NODE_MODULES, path);
  return existsSync(file) ? { contents: readFileSync(file, "utf8") } : { error: `${path} is not installed` };
}
