import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startDemoChain } from "./chain.ts";

/** What a parent process is told once the chain can be indexed. */
export type DemoReady = { type: "ready"; rpcUrl: string; chainId: number; originHost: string };

/** A new event comes after this long, plus up to a second. */
const EVENT_INTERVAL_MS = 2000;
/** A demo that nobody stopped goes slower after a day: anvil keeps 20 kB of each event in memory. */
const FAST_EVENTS = 30_000;
const SLOW_EVENT_INTERVAL_MS = 60_000;

// anvil goes with us: anvil.ts ends it when this process exits.
const quit = () => process.exit(0);
process.once("SIGINT", quit);
process.once("SIGTERM", quit);
process.once("disconnect", quit);
// The parent may have died while this file was being loaded.
if (process.send && !process.connected) quit();

const { values } = parseArgs({ options: { port: { type: "string" }, "origin-port": { type: "string" } } });
const chain = await startDemoChain({
  port: Number(values.port ?? 0),
  originPort: Number(values["origin-port"] ?? 0),
}).catch(exitWith);
void chain.ended.then(() => exitWith("anvil ended."));

const ready: DemoReady = {
  type: "ready",
  rpcUrl: chain.rpcUrl,
  chainId: chain.chainId,
  originHost: chain.originHost,
};
if (process.send) process.send(ready);
else console.log(`Demo chain ${chain.chainId} at ${chain.rpcUrl}, documents at http://${chain.originHost}`);

for (let played = 0; ; played += 1) {
  const wait = (played < FAST_EVENTS ? EVENT_INTERVAL_MS : SLOW_EVENT_INTERVAL_MS) + Math.random() * 1000;
  await sleep(wait);
  await chain.playEvent().catch(leaveOut);
}

/**
 * Who tries things with the demo's accounts, as a sale of their own, takes from an event what it needs. Where it is anvil
 * that is gone, `ended` says so.
 */
function leaveOut(error: Error): void {
  console.error(`The demo leaves out an event: ${error.message.split("\n")[0]}`);
}

function exitWith(reason: unknown): never {
  console.error(`The demo chain stopped: ${reason instanceof Error ? reason.message : String(reason)}`);
  process.exit(1);
}
