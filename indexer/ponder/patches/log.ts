import type { Patch } from "../../../module-patch.ts";
import { numberLogs } from "../log-number.ts";

/** What Ponder takes for the logs of a block, and for their transactions. */
export const LOG_PATCHES: readonly Patch[] = [
  {
    // Its column for a nonce has 31 bits, and a larger nonce would stop it for good. Nobody reads the nonce.
    file: "/ponder/dist/esm/rpc/actions.js",
    find: "if (hexToBigInt(transaction.nonce) > BigInt(PG_INTEGER_MAX)) {",
    replace: `
        if (hexToBigInt(transaction.nonce) > BigInt(PG_INTEGER_MAX)) transaction.nonce = "0x0";
        if (false) {`,
  },
  {
    // Where an array of a log is cut off, it left its own copy of the ABI changed, and read that array in all later logs of
    // the event as one value. Now it decodes by a copy of that.
    file: "/ponder/dist/esm/utils/decodeAbiParameters.js",
    find: "function _decodeAbiParameter(param, data,",
    replace: "function _decodeAbiParameter({ ...param }, data,",
  },
  {
    // Filecoin's nodes set every bit of every bloom, and zkSync's some in blocks that have nothing at all. A block without
    // logs would look like one whose logs the node has lost.
    file: "/ponder/dist/esm/rpc/actions.js",
    find: "if (block.logsBloom !== zeroLogsBloom && logs.length === 0) {",
    replace: `
    const isEmpty = block.transactions.length === 0 || /^(0xf+|0x0*)$/i.test(block.logsBloom);
    if (!isEmpty && logs.length === 0) {`,
  },
  {
    // Logs that a chain writes by itself may be of a transaction that their block doesn't list: of Hyperliquid, of Polygon's
    // bridge at some nodes. And Sonic's nodes tell another index at times than the transaction has. Both would stop it.
    file: "/ponder/dist/esm/rpc/actions.js",
    find: "for (const log of logs) {\n        if (block.hash !== log.blockHash) {",
    replace: `
    const transactionByHash = new Map(block.transactions.map((transaction) => [transaction.hash, transaction]));
    for (const log of logs) {
        const { transactionHash: hash, blockHash, blockNumber } = log;
        if (transactionByHash.has(hash)) log.transactionIndex = transactionByHash.get(hash).transactionIndex;
        else if (hash !== zeroHash && !transactionByIndex.has(log.transactionIndex)) {
            const { transactionIndex } = log;
            const [transaction] = standardizeTransactions(
                [{ hash, transactionIndex, blockHash, blockNumber, from: zeroAddress, gasPrice: "0x0" }],
                blockRequest,
            );
            block.transactions.push(transaction);
            block.transactions.sort((a, b) => hexToNumber(a.transactionIndex) - hexToNumber(b.transactionIndex));
            transactionByIndex.set(transactionIndex, transaction);
            transactionByHash.set(hash, transaction);
        }
        if (block.hash !== log.blockHash) {`,
  },
  // By a block's bloom it knew that none of its logs is wanted. Logs that a chain writes by itself are in no bloom: those of
  // Hedera's tokens, of Hyperliquid, of Polygon's bridge for years. Whether a node has lost logs is still seen by blooms
  // that name wanted ones.
  ...Object.entries({
    "const shouldRequestLogs =": "const shouldRequestLogs = logFilters.length > 0; const isNamed =",
    "validateLogsAndBlock(logs, block, {": "if (isNamed || logs.length > 0) validateLogsAndBlock(logs, block, {",
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/sync-realtime/index.js", find, replace })),
  {
    // It looked for every log of a block in the bloom, wanted or not, and only warned: five hashes for each log, a quarter
    // of what following a busy chain took.
    file: "/ponder/dist/esm/sync-realtime/index.js",
    find: `
            for (const log of logs) {
                if (isInBloom(`,
    replace: `
            for (const log of []) {
                if (isInBloom(`,
  },
  // It tried every filter with each log, and read the log's block number twice for each. Now it tries those of its event.
  ...Object.entries({
    "const logFilters = [];": `
    const logFilters = [];
    let filtersByTopic;
    const filtersOf = ({ topics }) => {
        filtersByTopic ??= Map.groupBy(logFilters, ({ topic0 }) => topic0);
        return filtersByTopic.get(topics[0]?.toLowerCase()) ?? [];
    };`,
    ...Object.fromEntries(
      [") {", " &&"].map((end) => [filterLoop("logFilters") + end, filterLoop("filtersOf(log)") + end]),
    ),
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/sync-realtime/index.js", find, replace })),
  ...Object.entries({
    "for (const log of logs) {": `
    const indexesByTopic = Map.groupBy(logEventCallbackIndexes, (index) => eventCallbacks[index].filter.topic0);
    for (const log of logs) {`,
    "of logEventCallbackIndexes) {": "of indexesByTopic.get(log.topics[0]?.toLowerCase()) ?? []) {",
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/runtime/events.js", find, replace })),
  // A log is matched by its signature alone: a Transfer of ERC-721, with each definition of a Transfer. Decoding it by those
  // that want more topics or data failed, which took longer than by the right one.
  ...Object.entries({
    "import { decodeEventLog }": `
/** Whether a log has a topic or a word at least for each of an event's inputs. */
const isLongEnough = ({ topics, data }, { inputs }) => {
    const indexed = inputs.filter((input) => input.indexed).length;
    const words = inputs.length - indexed;
    return Boolean(topics[indexed]) && (words === 0 || data.length >= 2 + 64 * words);
};
import { decodeEventLog }`,
    [`
            let args;
            try {
                args = decodeEventLog({`]: `
            if (!isLongEnough(event.log, eventCallback.abiItem))
                continue;
            let args;
            try {
                args = decodeEventLog({`,
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/runtime/events.js", find, replace })),
  {
    // A node that tells no bloom would be an error. It is asked for the logs of every block, like one with empty blooms.
    file: "/ponder/dist/esm/rpc/actions.js",
    find: "if (block.logsBloom === undefined) {",
    replace: `
    block.logsBloom ??= zeroLogsBloom;
    if (false) {`,
  },
  // Two logs of one index it refuses, and of two queries for a range it takes the first for both. Those of a range are
  // numbered once those of all queries are there: each has the logs of one event.
  ...Object.entries({
    "export const eth_getLogs =": `${numberLogs.toString()}
export const numberLogsBy = (rpc, logs, context) => numberLogs(logs, {
    isWanted: globalThis.isWantedLog,
    askForReceipts: (hash) => rpc.request({ method: "eth_getBlockReceipts", params: [hash] }, context),
});
export const eth_getLogs =`,
    "return standardizeLogs(responses.flat(), request);": `
    const logs = responses.flat();
    return standardizeLogs(params[0].blockHash === undefined ? logs : await numberLogsBy(rpc, logs, context), request);`,
    "if (logIds.has(`${log.blockNumber}_${log.logIndex}`)) {":
      "if (request.params[0].toBlock === undefined && logIds.has(`${log.blockNumber}_${log.logIndex}`)) {",
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/rpc/actions.js", find, replace })),
  ...Object.entries({
    "import { debug_traceBlockByNumber,": "import { numberLogsBy, standardizeLogs, debug_traceBlockByNumber,",
    "logs = dedupe(logs, (log) => `${log.blockNumber}_${log.logIndex}`);": `
            const textOf = ({ blockNumber, logIndex, transactionHash, address, topics, data }) =>
                [blockNumber, logIndex, transactionHash, address, topics, data].join();
            logs = await numberLogsBy(args.rpc, dedupe(logs, textOf), context);
            logs = standardizeLogs(logs, { method: "eth_getLogs", params: [{}] });`,
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/sync-historical/index.js", find, replace })),
  {
    // It finds each log's transaction by going through both in order.
    file: "/ponder/dist/esm/rpc/actions.js",
    find: "\n    return logs;\n",
    replace: `
    const place = (log) => [hexToNumber(log.blockNumber), hexToNumber(log.logIndex)];
    return logs.sort((a, b) => place(a)[0] - place(b)[0] || place(a)[1] - place(b)[1]);
`,
  },
];

/** `filters`: what it tries with a log. */
function filterLoop(filters: string): string {
  return `
            for (const filter of ${filters}) {
                if (isLogFilterMatched({ filter, log })`;
}
