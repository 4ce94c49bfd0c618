import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** The memory in use, in bytes, without what nobody uses any more: what a collection finds is given back in later turns. */
export async function readMemoryUsage(): Promise<NodeJS.MemoryUsage> {
  for (let turn = 0; turn < 3; turn++) {
    collectGarbage();
    await setImmediate();
  }
  return process.memoryUsage();
}
