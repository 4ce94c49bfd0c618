import { setTimeout as sleep } from "node:timers/promises";
import { isLogged, type LogLevel, type Network } from "../config.ts";
import { isMissingTable } from "../offchain/network.ts";

/** The usual pause after a step that had nothing more to do, or has failed. */
const POLL_MS = 1000;

/**
 * Runs a step of a network again and again, until the signal: at once where it says that there is more, else after a
 * pause. A fault is logged once and waited out. `what`: the step as that line names it.
 */
type Loop = (network: Network, what: string, step: () => Promise<boolean>, pauseMs?: number) => Promise<void>;

/** Creates the loops of a worker. */
export function createLoop({ signal, logLevel }: { signal: AbortSignal; logLevel: LogLevel }): Loop {
  const waiting = new Set<Network>();

  /** Logged once a network: at every first start there are no tables yet, and all loops meet that. */
  function logWaiting(network: Network): void {
    if (isLogged("info", logLevel) && !waiting.has(network)) console.log(`worker  waits for the tables of ${network}`);
    waiting.add(network);
  }

  return async (network, what, step, pauseMs = POLL_MS) => {
    let logged = "";
    while (!signal.aborted) {
      try {
        const hasMore = await step();
        logged = "";
        if (hasMore) continue;
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        if (isMissingTable(error)) logWaiting(network);
        else if (message !== logged && logLevel !== "silent") console.error(`worker: ${network}: ${what}: ${message}`);
        logged = message;
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  };
}
