import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The chain id of every demo chain: anvil's own. */
export const DEMO_CHAIN_ID = 31_337;

const START_TIMEOUT_MS = 20_000;

/** An anvil that runs. */
export type Anvil = {
  rpcUrl: string;
  /** Settles when the process has ended, whoever ended it. */
  ended: Promise<void>;
  stop: () => Promise<void>;
};

/**
 * Starts the anvil that npm brought, on 127.0.0.1. It mines nothing by itself and ends with this process.
 *
 * @param options.port 0 for a free one
 * @param options.timestamp time of the genesis block, Unix seconds
 * @throws Error with the last lines of what it printed when it doesn't start
 */
export async function startAnvil({
  port,
  timestamp,
  accounts,
}: {
  port: number;
  timestamp: bigint;
  accounts: number;
}): Promise<Anvil> {
  const settings = [
    `--port=${port}`,
    `--chain-id=${DEMO_CHAIN_ID}`,
    `--timestamp=${timestamp}`,
    `--accounts=${accounts}`,
    "--no-mining",
    // The order of sending, not of fees: in one block a token is minted before it is sold.
    "--order=fifo",
    // A block of history holds dozens of transactions that each ask for the same generous gas limit.
    "--gas-limit=500000000",
    // Each kept state is a copy of everything: with 8, anvil grows by 20 kB an event, with 32 by 35 kB. Logs and blocks
    // are all kept; only calls to contracts as they were long ago are not answered.
    "--prune-history=8",
    // Blocks are final when they are two behind, not 64: what history is, is for the indexer to say.
    "--slots-in-an-epoch=1",
    // No page of a browser has business here.
    "--no-cors",
  ];
  const [command, args] = endsWithParent(findAnvil(), settings);
  // In a group of its own: Ctrl-C in a terminal reaches us, and we end it when we are done.
  const child = spawn(command, args, { detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const ended = once(child, "close").then(
    () => void process.off("exit", kill),
    () => void process.off("exit", kill),
  );
  const stop = async () => {
    kill();
    await ended;
  };

  let output = "";
  const rpcUrl = await new Promise<string | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(undefined), START_TIMEOUT_MS);
    const settle = (url: string | undefined) => {
      clearTimeout(timer);
      resolve(url);
    };
    const read = (chunk: Buffer) => {
      // Read on after the start, or anvil would wait for room in the pipe; but keep nothing.
      output = (output + chunk.toString()).slice(-4000);
      const address = /Listening on (\S+:\d+)/.exec(output)?.[1];
      if (address) settle(`http://${address}`);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", (error) => {
      output += error.message;
      settle(undefined);
    });
    void ended.then(() => settle(undefined));
  });
  if (rpcUrl) return { rpcUrl, ended, stop };

  await stop();
  throw new Error(`anvil did not start on port ${port}:\n${output.trim().split("\n").slice(-5).join("\n")}`);
}

/** The binary itself, not the script around it: that one would be a second process to end. */
function findAnvil(): string {
  const home = dirname(createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json"));
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const name = process.platform === "win32" ? "anvil.exe" : "anvil";
  const platformPackage = `@foundry-rs/anvil-${process.platform}-${architecture}`;
  const candidates = [join(home, "..", "..", platformPackage, "bin", name), join(home, "dist", name)];
  try {
    candidates.unshift(createRequire(join(home, "package.json")).resolve(`${platformPackage}/bin/${name}`));
  } catch {
    // Not where packages are looked up; its install script may have put it elsewhere.
  }
  const found = candidates.find((path) => existsSync(path));
  if (found) return found;
  throw new Error(
    `There is no anvil for ${process.platform} ${process.arch} in node_modules. Set MAINNET_RPC_URL to index a chain of your own.`,
  );
}

/** On Linux the kernel ends the child when we die without a last word (SIGKILL). Elsewhere it would stay behind. */
function endsWithParent(command: string, args: string[]): [string, string[]] {
  const prefix = ["--pdeathsig", "KILL"];
  if (process.platform !== "linux") return [command, args];
  try {
    execFileSync("setpriv", [...prefix, "true"], { stdio: "ignore" });
    return ["setpriv", [...prefix, command, ...args]];
  } catch {
    return [command, args];
  }
}
