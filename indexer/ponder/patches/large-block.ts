import type { Patch } from "../../../module-patch.ts";

/**
 * How Ponder holds blocks of very many logs. A log without data costs its author 750 gas, so that a block has room for
 * 48,000, and Ponder kept each as an object until it was final: eight such blocks ended it without memory, again at each
 * start until they were final.
 */
export const LARGE_BLOCK_PATCHES: readonly Patch[] = [
  // What it keeps to write it once it is final it keeps packed, outside the heap.
  ...Object.entries({
    'import { hexToNumber } from "viem";': `import { hexToNumber } from "viem";
import { deflateSync, inflateSync } from "node:zlib";
const pack = (logs) => deflateSync(JSON.stringify(logs), { level: 1 });
const unpack = (packed) => JSON.parse(inflateSync(packed).toString());`,
    "params.unfinalizedBlocks.push(event);": `
            params.unfinalizedBlocks.push({ ...event, logs: undefined, packedLogs: pack(event.logs) });`,
    // Block by block, or all would be there at once.
    [`
                    syncStore.insertLogs({
                        logs: finalizedBlocks.flatMap(({ logs }) => logs),
                        chainId: params.chain.id,
                    }),`]: `
                    (async () => {
                        for (const { packedLogs } of finalizedBlocks)
                            await syncStore.insertLogs({ logs: unpack(packedLogs), chainId: params.chain.id });
                    })(),`,
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/runtime/realtime.js", find, replace })),
  // It decoded up to two hundred blocks ahead of the one that it indexed, where one that is fetched is enough, and kept
  // their events until they were final, for the order of several chains. A process follows one.
  ...Object.entries({
    "pendingEvents = [];\n                executedEvents = executedEvents.concat(readyEvents);": "pendingEvents = [];",
    [`
        }), 100, bufferCallback);
    })
        .filter((generator) => generator !== undefined);
    /** Events that have been executed but not finalized. */
    let executedEvents = [];
    /** Events that have not been executed. */
    let pendingEvents = [];`]: `
        }), 1, bufferCallback);
    })
        .filter((generator) => generator !== undefined);
    let executedEvents = [];
    let pendingEvents = [];`,
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/runtime/realtime.js", find, replace })),
  ...Object.entries({
    "of bufferAsyncGenerator(getRealtimeEventsMultichain({": "of getRealtimeEventsMultichain({",
    "}), 100, bufferCallback)) {": "})) {",
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/runtime/multichain.js", find, replace })),
  // Blocks that it missed it fetched fifty at once. Now it begins with two, and takes twice as many each time, up to fifty,
  // while they have few logs.
  ...Object.entries({
    "const MAX_QUEUED_BLOCKS = 50;": "const MAX_QUEUED_BLOCKS = 50;\nlet blocksAtOnce = 2;",
    "const pendingBlocks = await Promise.all(missingBlockRange.map((blockNumber) =>":
      "const fetchMissing = (numbers) => Promise.all(numbers.map((blockNumber) =>",
    [`
            for (const pendingBlock of pendingBlocks) {
                yield* reconcileBlock(pendingBlock);
            }`]: `
            for (let start = 0; start < missingBlockRange.length; ) {
                const pendingBlocks = await fetchMissing(missingBlockRange.slice(start, start + blocksAtOnce));
                start += pendingBlocks.length;
                const most = Math.max(...pendingBlocks.map(({ logs }) => logs.length));
                const few = Math.min(2 * blocksAtOnce, MAX_QUEUED_BLOCKS, Math.floor(20_000 / most));
                blocksAtOnce = Math.max(1, few);
                while (pendingBlocks.length > 0) yield* reconcileBlock(pendingBlocks.shift());
            }`,
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/sync-realtime/index.js", find, replace })),
];
