import { type Config, ConfigError } from "../config.ts";
import { DEMO_CHAIN_ID } from "../demo/anvil.ts";
import type { DemoReady } from "../demo/main.ts";
import { hostOf } from "../net/node-address.ts";
import { type Child, startChild } from "./child.ts";

/** What the demo is indexed with, whatever is set for a real chain. */
const SETTINGS = {
  // A replica of what DATABASE_URL names may not have the demo.
  DATABASE_READ_URL: "",
  MAINNET_CHAIN_ID: String(DEMO_CHAIN_ID),
  MAINNET_START_BLOCK: "0",
  MAINNET_END_BLOCK: "",
  MAINNET_CONTRACTS: "*",
  MAINNET_FIRST_GENERATION_CONTRACTS: "",
};

/**
 * Says which settings the demo goes without.
 *
 * @throws ConfigError where another chain is named: who forgot its node would take the demo for it
 */
export function requireDemoSettings({ log }: { log: (line: string) => void }): void {
  const { MAINNET_CHAIN_ID } = process.env;
  if (MAINNET_CHAIN_ID?.trim() && Number(MAINNET_CHAIN_ID) !== DEMO_CHAIN_ID)
    throw new ConfigError(
      `MAINNET_CHAIN_ID is ${MAINNET_CHAIN_ID}, but MAINNET_RPC_URL is not set, and the demo chain is ${DEMO_CHAIN_ID}. Expected MAINNET_RPC_URL too.`,
    );
  const unused = Object.entries(SETTINGS).filter(([name, value]) => (process.env[name]?.trim() || value) !== value);
  if (unused.length > 0)
    log(`MAINNET_RPC_URL is not set: the demo chain goes without ${unused.map(([name]) => name).join(", ")}.`);
}

/** `env`: the variables by which the parts of the service index it. */
type Demo = { env: Record<string, string>; rpcHost: string };

/** Starts the demo chain. `ready` resolves once it can be indexed, and rejects where it ends before that. */
export function startDemo(
  { fetchAllowHosts }: Pick<Config, "fetchAllowHosts">,
  { log }: { log: (line: string) => void },
): Child & { ready: Promise<Demo> } {
  log("Starting the demo chain ...");
  const child = startChild("demo/main.ts", {});
  const started = new Promise<DemoReady>((resolve) => {
    child.process.on("message", (message: DemoReady) => {
      if (message.type === "ready") resolve(message);
    });
  });
  const failed = child.ended.then((reason): never => {
    throw new Error(`The demo chain didn't start: ${reason}`);
  });
  const ready = Promise.race([started, failed]).then(({ rpcUrl, originHost }) => ({
    rpcHost: hostOf(rpcUrl),
    env: {
      ...SETTINGS,
      MAINNET_RPC_URL: rpcUrl,
      FETCH_ALLOW_HOSTS: [...fetchAllowHosts, originHost].join(","),
    },
  }));
  return { ...child, ready };
}
