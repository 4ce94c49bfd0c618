import type { Patch } from "../../../module-patch.ts";
import { withRangeEnd } from "../range-end.ts";

/** How Ponder asks for the logs of many blocks at once, where it catches up. */
export const RANGE_PATCHES: readonly Patch[] = [
  {
    // Some nodes take no more addresses in one query. Only blocks that were final before Ponder's start are asked for so.
    file: "/ponder/dist/esm/rpc/actions.js",
    find: "const ADDRESS_CHUNK_SIZE = 50;",
    replace: "const ADDRESS_CHUNK_SIZE = 20;",
  },
  {
    // Where only the last final block is still to be fetched, it noted that block as done with the ones before it. What ended
    // it until then, a node without those logs too, lost them for good.
    file: "/ponder/dist/esm/runtime/historical.js",
    find: "if (cursor >= toBlock) {",
    replace: "if (cursor > toBlock) {",
  },
  {
    // It asks for the logs of each source apart: on Ethereum 21 queries for each range of blocks. With those of the same
    // blocks put together there are two. It drops by itself the logs that no source wants.
    file: "/ponder/dist/esm/sync-historical/index.js",
    find: "...Array.from(mergedEthGetLogsParams.values()),",
    replace: `
                ...[...Map.groupBy(mergedEthGetLogsParams.values(), ({ interval }) => interval.join())].map(([, alike]) => ({
                    ...alike[0],
                    address: [...new Set(alike.flatMap(({ address }) => address))],
                    topic0: [...new Set(alike.flatMap(({ topic0 }) => topic0))],
                })),`,
  },
  // A range that is refused in words that it doesn't know, or that is one block longer than what the words allow, it asked
  // for in the same length for ever; and in parts of no block where two were too many.
  ...Object.entries({
    "if (getLogsErrorResponse.shouldRetry === false)": `
            const isKnown = getLogsErrorResponse.shouldRetry;
            const isAnswer = error.name === "TimeoutError" || (error.code ?? error.status ?? 429) !== 429;
            if (!isKnown && (!isAnswer || interval[0] === interval[1]))`,
    [`
            const range = hexToNumber(getLogsErrorResponse.ranges[0].toBlock) -
                hexToNumber(getLogsErrorResponse.ranges[0].fromBlock);`]: `
            const range = Math.max(1, isKnown
                ? hexToNumber(getLogsErrorResponse.ranges[0].toBlock) - hexToNumber(getLogsErrorResponse.ranges[0].fromBlock)
                : Math.floor((interval[1] - interval[0]) / 2));`,
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/sync-historical/index.js", find, replace })),
  // It believes a node that lags and lacks some logs of a range, and never asks for them again: see `range-end.ts`.
  ...Object.entries({
    "export function getHttpRpcClient(url, options) {": `
      export const getHttpRpcClient = (url, options) => withRangeEnd(createClient(url, options));
      ${withRangeEnd.toString()}
      function createClient(url, options) {`,
    // Its client is to send batches as well.
    [`
                        body: stringify({
                            jsonrpc: "2.0",
                            id: body.id ?? id++,
                            ...body,
                        }),`]: `
                        body: stringify(
                            Array.isArray(body)
                                ? body.map((call) => ({ jsonrpc: "2.0", id: id++, ...call }))
                                : { jsonrpc: "2.0", id: body.id ?? id++, ...body },
                        ),`,
    "resolve(data.result);": "resolve(Array.isArray(data) ? data : data.result);",
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/rpc/http.js", find, replace })),
];
