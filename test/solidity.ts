import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Abi, Hex } from "viem";

const CONTRACTS_DIRECTORY = join(import.meta.dirname, "contracts");
const NODE_MODULES = join(import.meta.dirname, "../node_modules");
const IMPORT_DIRECTORIES = [CONTRACTS_DIRECTORY, NODE_MODULES];
/** What npm installed: the compiler, and libraries that contracts import. */
const INSTALLED = join(NODE_MODULES, ".package-lock.json");
const CACHE_DIRECTORY = join(NODE_MODULES, ".cache/solidity");

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
 * Compiles files of `test/contracts`, each with one contract of its name: once an install, and again when a contract
 * changes. To load the compiler takes 0.6 s of a core, and to compile up to 3.
 *
 * @throws Error with the compiler's own messages
 */
export function compile<Name extends string>(...names: Name[]): Record<Name, Artifact> {
  const path = join(CACHE_DIRECTORY, `${keyOf(names)}.json`);
  if (!existsSync(path)) {
    const artifacts = JSON.stringify(compileAnew(names));
    mkdirSync(CACHE_DIRECTORY, { recursive: true });
    // Other test files may be at it, too: whole, it is moved to its place.
    const unfinished = `${path}.${process.pid}`;
    writeFileSync(unfinished, artifacts);
    renameSync(unfinished, path);
  }
  return JSON.parse(readFileSync(path, "utf8")) as Record<Name, Artifact>;
}

/** Hash of all that decides what comes out: names, settings, contracts, which import each other, and packages. */
function keyOf(names: string[]): string {
  const hash = createHash("sha256").update(JSON.stringify([names, SETTINGS]));
  for (const file of readdirSync(CONTRACTS_DIRECTORY).toSorted())
    hash.update(file).update(readFileSync(join(CONTRACTS_DIRECTORY, file)));
  return hash.update(readFileSync(INSTALLED)).digest("hex");
}

function compileAnew<Name extends string>(names: Name[]): Record<Name, Artifact> {
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
