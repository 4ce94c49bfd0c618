import type { Patch } from "../../module-patch.ts";
import { numberLogs } from "./log-number.ts";
import { withRangeEnd } from "./range-end.ts";
import { DEFAULTS, KEEPALIVE, UNREAD_ANSWER } from "../../postgres/session.ts";

/** Changes to Ponder 0.17.7, made as it is loaded. A version whose source differs in one of these places is refused. */
export const PONDER_PATCHES: readonly Patch[] = [
  // Ponder has Vite transform our files, which Node runs as they are: 1.2 s of the 4 s of CPU that a start takes. The
  // modules that its plugin makes up for them are in `ponder-registry.ts`.
  ...Object.entries({
    'import { createServer } from "vite";':
      "const createServer = async () => ({ config: {}, pluginContainer: { buildStart: async () => {} }, close: async () => {} });",
    'import { ViteNodeRunner } from "vite-node/client";': `
      import { pathToFileURL } from "node:url";
      class ViteNodeRunner {
        executeFile = (file) => import(pathToFileURL(file));
        executeId = (id) => import(id);
      }`,
    'import { ViteNodeServer } from "vite-node/server";': "class ViteNodeServer {}",
    'import { installSourcemapsSupport } from "vite-node/source-map";': "const installSourcemapsSupport = () => {};",
    'import { normalizeModuleId, toFilePath } from "vite-node/utils";': "",
    'import viteTsconfigPathsPlugin from "vite-tsconfig-paths";': "const viteTsconfigPathsPlugin = () => {};",
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/build/index.js", find, replace })),
  // Two thirds of its 3,300 modules are a GraphQL server that nobody starts, and viem's list of 700 chains, in which it looks
  // up the id that it has: half a second of a start.
  {
    file: "/ponder/dist/esm/index.js",
    find: "export { graphql } from './graphql/middleware.js';",
    replace: "",
  },
  {
    file: "/ponder/dist/esm/build/config.js",
    find: "import { hyperliquidEvm, chains as viemChains } from '../utils/chains.js';",
    replace: `
      const chainOf = (id) => ({ id, rpcUrls: { default: { http: [] } } });
      const hyperliquidEvm = chainOf(999);`,
  },
  {
    file: "/ponder/dist/esm/build/config.js",
    find: 'Object.values(viemChains).find((c) => "id" in c ? c.id === chain.id : false)',
    replace: "chainOf(chain.id)",
  },
  // PGlite, a Postgres in WebAssembly, isn't used where there is a real one.
  ...["build", "database"].map((folder) => ({
    file: `/ponder/dist/esm/${folder}/index.js`,
    find: 'import { drizzle as drizzlePglite } from "drizzle-orm/pglite";',
    replace: "const drizzlePglite = undefined;",
  })),
  {
    file: "/ponder/dist/esm/utils/pglite.js",
    find: 'import { PGlite } from "@electric-sql/pglite";',
    replace: "const PGlite = undefined;",
  },
  {
    // It starts a Postgres parser to learn what a statement of an indexing function does: half a second of a start. Ours are
    // a `do` and a `select`. Before them all rows in memory are written, instead of those of the statement's tables.
    file: "/ponder/dist/esm/indexing-store/index.js",
    find: "const isSelectOnly = await isReadonlySQLQuery(_sql);",
    replace: "const isSelectOnly = /^select /.test(_sql);",
  },
  {
    file: "/ponder/dist/esm/indexing-store/index.js",
    find: "relations = await getSQLQueryRelations(_sql);",
    replace: "",
  },
  // It reads each row that isn't in memory by a query of its own, and waits for it. `find` with several keys reads them
  // together, for those that follow.
  {
    file: "/ponder/dist/esm/indexing-store/index.js",
    find: 'checkTableAccess(table, "find", key, chainId);',
    replace: `
                if (Array.isArray(key)) {
                    await Promise.all(key.map((one) => indexingCache.get({ table, key: one })));
                    return null;
                }
                checkTableAccess(table, "find", key, chainId);`,
  },
  {
    file: "/ponder/dist/esm/indexing-store/cache.js",
    find: "const insertBuffer = new Map();",
    replace: `
    const insertBuffer = new Map();
    const wanted = new Map();
    /** Most rows that one query reads. */
    const MOST_TOGETHER = 5_000;
    const isOneOf = (table, keys) => {
        const names = getPrimaryKeyColumns(table).map(({ js }) => js);
        const lists = names.map((name) => {
            const values = keys.map((key) => table[name].mapToDriverValue(key[name]));
            return sql\`\${sql.param(values)}::\${sql.raw(table[name].getSQLType())}[]\`;
        });
        const columns = sql.join(names.map((name) => table[name]), sql\`, \`);
        return sql\`(\${columns}) in (select * from unnest(\${sql.join(lists, sql\`, \`)}))\`;
    };
    const readSoon = (table, key) => {
        let batch = wanted.get(table);
        if (batch === undefined || batch.keys.length === MOST_TOGETHER) {
            const keys = [];
            const read = Promise.resolve().then(() => {
                if (wanted.get(table)?.keys === keys) wanted.delete(table);
                const isWanted = keys.length === 1 ? getWhereCondition(table, keys[0]) : isOneOf(table, keys);
                return qb.wrap((db) => db.select().from(table).where(isWanted));
            });
            const keyOf = (row) => getCacheKey(table, row, primaryKeyCache);
            const rows = read.then((found) => new Map(found.map((row) => [keyOf(row), row])));
            batch = { keys, rows };
            wanted.set(table, batch);
        }
        batch.keys.push(key);
        return batch.rows;
    };`,
  },
  {
    file: "/ponder/dist/esm/indexing-store/cache.js",
    find: `
            const result = await qb
                .wrap((db) => db.select().from(table).where(getWhereCondition(table, key)))
                .then((res) => (res.length === 0 ? null : res[0]))`,
    replace: `
            const result = await readSoon(table, key)
                .then((rows) => rows.get(ck) ?? null)`,
  },
  {
    // Its column for a nonce has 31 bits, and a larger nonce would stop it for good. Nobody reads the nonce.
    file: "/ponder/dist/esm/rpc/actions.js",
    find: "if (hexToBigInt(transaction.nonce) > BigInt(PG_INTEGER_MAX)) {",
    replace: `
        if (hexToBigInt(transaction.nonce) > BigInt(PG_INTEGER_MAX)) transaction.nonce = "0x0";
        if (false) {`,
  },
  // For a reorg it drops the triggers of its tables, of three kinds, and makes them anew. Dropping waits for all readers,
  // others wait behind it, and Postgres keeps memory for each trigger as long as the session lasts. So they are disabled
  // instead: where Ponder makes them anew, by replacing them, they are enabled again.
  withoutDrop({
    trigger: "${getReorgTriggerName()}",
    table: '"${schema}"."${chainId === undefined ? getTableName(table) : getPartitionName(table, chainId)}"`',
  }),
  withoutDrop({
    trigger: "${trigger}",
    table: '"${schema}"."${chainId === undefined ? getTableName(table) : getPartitionName(table, chainId)}";`',
  }),
  withoutDrop({
    trigger: "${notifyTrigger}",
    table: '"${namespaceBuild.schema}"."${PONDER_CHECKPOINT_TABLE_NAME}";`',
  }),
  // For clients that follow a query, it makes a table for each block in which triggers note what has changed. There are no
  // such clients.
  ...Object.entries({
    "await createLiveQueryTriggers(database.adminQB, { namespaceBuild, tables });": "",
    "await tx.wrap((tx) => tx.execute(`CREATE TEMP TABLE ${getLiveQueryTempTableName()} (table_name TEXT PRIMARY KEY) ON COMMIT DROP`), context);":
      "",
    "await dropLiveQueryTriggers(tx, { namespaceBuild, tables }, context);": "",
    "await createLiveQueryTriggers(tx, { namespaceBuild, tables }, context);": "",
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/runtime/multichain.js", find, replace })),
  {
    // Where the connection was lost at the end of a transaction, it did the transaction once more with the rows of the first
    // time in memory: it counted a block's units twice. Nobody told it whether the first had been committed. So it ends, and
    // the next Ponder goes on from what is in the tables.
    file: "/ponder/dist/esm/database/queryBuilder.js",
    find: `
                    const result = await callback(tx);
                    return result;
                }, config), {
                    isTransaction: true,`,
    replace: `
                    if (callback.isDone) throw new NonRetryableUserError("The connection to Postgres was lost while a transaction ended");
                    const result = await callback(tx);
                    callback.isDone = true;
                    return result;
                }, config), {
                    isTransaction: true,`,
  },
  // Where it was lost in a transaction within a transaction, it tried that one again for a minute, on the same connection.
  ...["", "\n                    label,"].map((label) => ({
    file: "/ponder/dist/esm/database/queryBuilder.js",
    find: `
                }, config), {${label}
                    isTransaction: true,
                    isTransactionStatement: false,`,
    replace: `
                }, config), {${label}
                    isTransaction: db.nestedIndex === undefined,
                    isTransactionStatement: db.nestedIndex !== undefined,`,
  })),
  {
    // What is said of a lost connection from the second statement on.
    file: "/ponder/dist/esm/database/queryBuilder.js",
    find: 'error?.message?.includes("Connection terminated unexpectedly") ||',
    replace: "/Connection terminated unexpectedly|connection error and is not queryable/.test(error?.message) ||",
  },
  {
    // A head whose logs couldn't be fetched, because a backend lagged, would count as seen. It wouldn't be asked for again
    // before the next block, which on a quiet chain may never come.
    file: "/ponder/dist/esm/sync-realtime/index.js",
    find: "onError(_error, block);",
    replace: `
                if (latestFetchedBlock === block) latestFetchedBlock = undefined;
                onError(_error, block);`,
  },
  // Twice a second it asked for the head with all its transactions, which on Ethereum are hundreds of kilobytes and new each
  // twelve seconds. Now they are asked for once the head has another hash, and again where it couldn't be indexed.
  ...Object.entries({
    "let isUnsubscribed = false;": "let isUnsubscribed = false; let taken;",
    'const block = await eth_getBlockByNumber(rpc, ["latest", true]);': `
                                const head = await eth_getBlockByNumber(rpc, ["latest", false]);
                                if (head.hash === taken) return;
                                taken = head.hash;
                                const block = await eth_getBlockByNumber(rpc, ["latest", true]);
                                taken = block.hash;`,
    "await onBlock(block);": "if (!(await onBlock(block)) && taken === block.hash) taken = undefined;",
    "catch (error) {\n                                onError(error);": `
                            catch (error) {
                                taken = undefined;
                                onError(error);`,
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/rpc/index.js", find, replace })),
  {
    // A head that it has already isn't one that couldn't be indexed.
    file: "/ponder/dist/esm/sync-realtime/index.js",
    find: `
                        msg: "Detected duplicate block",
                        chain: args.chain.name,
                        chain_id: args.chain.id,
                        number: hexToNumber(block.number),
                        hash: block.hash,
                    });
                    blockCallback?.(false);`,
    replace: `
                    });
                    blockCallback?.(true);`,
  },
  {
    // The head of a backend that is some blocks behind it took for a reorg, and dropped what it had above until the next one
    // told of it: readers saw the last blocks come and go. A head that is one of its own blocks says nothing.
    file: "/ponder/dist/esm/sync-realtime/index.js",
    find: "if (latestBlock.hash === block.hash ||",
    replace: "if ([finalizedBlock, ...unfinalizedBlocks].some(({ hash }) => hash === block.hash) ||",
  },
  {
    // Where a reorg's blocks can't be had it gives up, having dropped blocks of its own whose rows are still there: those
    // would stay, or come twice. It finds the reorg again at the next head.
    file: "/ponder/dist/esm/sync-realtime/index.js",
    find: "remoteBlock = await eth_getBlockByHash(args.rpc, [remoteBlock.parentHash, false], context);",
    replace: `
                try {
                    remoteBlock = await eth_getBlockByHash(args.rpc, [remoteBlock.parentHash, false], context);
                } catch (error) {
                    unfinalizedBlocks.push(...reorgedBlocks);
                    throw error;
                }`,
  },
  // Where the chain skips numbers (`net/skipped-block.ts`) the next block isn't one that others are missing before, going
  // back along a reorg may pass none or several of its own blocks, and the number that becomes final may be of no block.
  ...Object.entries({
    "if (hexToNumber(latestBlock.number) + 1 < hexToNumber(block.number)) {":
      "if (hexToNumber(latestBlock.number) + 1 < hexToNumber(block.number) && block.parentHash !== latestBlock.hash) {",
    [`
            if (unfinalizedBlocks.length === 0) {
                // No`]: `
            if (hexToNumber(remoteBlock.number) <= hexToNumber(finalizedBlock.number) + 1) {
                // No`,
    "reorgedBlocks.unshift(unfinalizedBlocks.pop());": `
                while (unfinalizedBlocks.length > 0) {
                    const { hash, number } = getLatestUnfinalizedBlock();
                    if (hash === remoteBlock.hash || hexToNumber(number) < hexToNumber(remoteBlock.number)) break;
                    reorgedBlocks.unshift(unfinalizedBlocks.pop());
                }
                if (getLatestUnfinalizedBlock().hash === remoteBlock.hash) break;`,
    [`unfinalizedBlocks.find((lb) => hexToNumber(lb.number) ===
                hexToNumber(block.number) - args.chain.finalityBlockCount);`]: `
                unfinalizedBlocks.findLast((lb) => hexToNumber(lb.number) <=
                    hexToNumber(block.number) - args.chain.finalityBlockCount) ?? finalizedBlock;`,
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/sync-realtime/index.js", find, replace })),
  {
    // Whatever a node says of a block's logs, it asked for them for a minute, all other blocks behind it: a reorg may have
    // taken the block away meanwhile. It begins again with the head that it finds next, twice a second.
    file: "/ponder/dist/esm/rpc/index.js",
    find: "if (i === RETRY_COUNT) {",
    replace: "if (i === RETRY_COUNT || (i === 3 && error.code !== 429 && body.params?.[0]?.blockHash !== undefined)) {",
  },
  {
    // It was done as soon as the last block that is wanted was the head, and followed no reorg of it.
    file: "/ponder/dist/esm/runtime/realtime.js",
    find: "if (block.number === params.syncProgress.end?.number) {",
    replace: `
        const { end, finalized } = params.syncProgress;
        if (end !== undefined && hexToNumber(finalized.number) >= hexToNumber(end.number)) {`,
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
  {
    // A node that tells no bloom would be an error. It is asked for the logs of every block, like one with empty blooms.
    file: "/ponder/dist/esm/rpc/actions.js",
    find: "if (block.logsBloom === undefined) {",
    replace: `
    block.logsBloom ??= zeroLogsBloom;
    if (false) {`,
  },
  // A Ponder whose indexer has lost the network's lock unawares may go on beside the next one for a while. What it wrote
  // while the next one has the triggers disabled nobody would take back. So each transaction of the rows ends with a look at
  // who began last.
  {
    file: "/ponder/dist/esm/database/index.js",
    find: "heartbeat_at: Date.now(),",
    replace: "heartbeat_at: Date.now(), run: (globalThis.PONDER_RUN ??= crypto.randomUUID()),",
  },
  {
    file: "/ponder/dist/esm/database/index.js",
    find: "if (checkpoints.length === 0) {",
    replace: `
                    if (checkpoints.length === 0) {
                        await tx.wrap((tx) => tx.update(PONDER_META).set({ value: metadata }), context);`,
  },
  {
    file: "/ponder/dist/esm/runtime/multichain.js",
    find: "const PONDER_META = getPonderMetaTable(namespaceBuild.schema);",
    replace: `
    const PONDER_META = getPonderMetaTable(namespaceBuild.schema);
    for (const qb of [database.userQB, database.adminQB]) {
        const begin = qb.transaction;
        qb.transaction = (...args) => {
            const place = args.findIndex((arg) => typeof arg === "function");
            const work = args[place];
            args[place] = async (tx) => {
                const result = await work(tx);
                const last = \`select value ->> 'run' as run from "\${namespaceBuild.schema}"._ponder_meta\`;
                const { rows } = await tx.execute(last);
                if (rows[0]?.run !== globalThis.PONDER_RUN)
                    throw new NonRetryableUserError("Another Ponder has taken these tables over");
                return result;
            };
            return begin(...args);
        };
    }`,
  },
  {
    // What it predicts of rows that events will ask for is a guess: a step's number may have been a token's id, an address
    // a text. What no column holds stopped it.
    file: "/ponder/dist/esm/indexing-store/cache.js",
    find: "const row = recoverProfilePattern(pattern, event);",
    replace: `
                                const row = recoverProfilePattern(pattern, event);
                                const most = { PgInteger: 2 ** 31, PgBigInt53: 2 ** 53 };
                                const fits = (name) => {
                                    const [value, { columnType }] = [row[name], table[name]];
                                    if (columnType === "PgCustomColumn") return /^0x(?:[\\da-f]{2})*$/i.test(value);
                                    return value != null && !(Math.abs(Number(value)) >= most[columnType]);
                                };
                                if (!Object.keys(row).every(fits)) continue;`,
  },
  // So did more keys than a statement takes parameters, and their conditions took it a millisecond each.
  ...Object.entries({
    [`dedupe(Array.from(tablePredictions), ([key]) => key).map(([, prediction]) => getWhereCondition(table, prediction))`]:
      "[...tablePredictions.values()]",
    ".where(or(...conditions))": ".where(isOneOf(table, conditions))",
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/indexing-store/cache.js", find, replace })),
  {
    // Blocks of one second have one time: by that it didn't notice that a node was behind, and indexed blocks twice.
    file: "/ponder/dist/esm/database/index.js",
    find: `
                    if (hexToBigInt(finalizedBlock.timestamp) <
                        decodeCheckpoint(finalizedCheckpoint).blockTimestamp) {`,
    replace: `
                    if (hexToBigInt(finalizedBlock.number) < decodeCheckpoint(finalizedCheckpoint).blockNumber) {`,
  },
  {
    // It went on to tell of the blocks that a reorg had taken out of the tables until the next one was there.
    file: "/ponder/dist/esm/runtime/multichain.js",
    find: "await createTriggers(tx, { tables }, context);",
    replace: `
                    await createTriggers(tx, { tables }, context);
                    await tx.wrap((db) => db
                        .update(PONDER_CHECKPOINT)
                        .set({ latestCheckpoint: event.checkpoint })
                        .where(eq(PONDER_CHECKPOINT.chainName, event.chain.name)), context);`,
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
  {
    // What is set there would be Ponder's alone: history and the head would have different contracts.
    file: "/ponder/dist/esm/bin/ponder.js",
    find: 'dotenv.config({ path: ".env.local" });',
    replace: "",
  },
  {
    // It writes a file at each start that is in the repository anyway. Where the installation is read-only, that would fail.
    file: "/ponder/dist/esm/bin/utils/codegen.js",
    find: 'writeFileSync(path.join(common.options.rootDir, "ponder-env.d.ts"), ponderEnv, "utf8");',
    replace: "",
  },
  {
    // So that its sessions, with their locks, end soon after the machine is lost. Timeouts of statements it sets by itself.
    // And a connection that ended before it was open it waited for without end. What it has committed is to be safe when
    // Postgres crashes: it goes on behind that, and what was lost would be missing for good.
    file: "/ponder/dist/esm/utils/pg.js",
    find: `
                super.connect(() => {
                    this.query(\`
            SET synchronous_commit = off;`,
    replace: `
                super.connect((error) => {
                    if (error) callback(error);
                    else this.query(\`
            ${Object.entries({ ...KEEPALIVE, ...UNREAD_ANSWER, ...DEFAULTS })
              .map(([name, value]) => `SET ${name} = '${value}';`)
              .join(" ")}`,
  },
];

/** `table`: to the end of the statement. */
function withoutDrop({ trigger, table }: { trigger: string; table: string }): Patch {
  return {
    file: "/ponder/dist/esm/database/actions.js",
    find: `DROP TRIGGER IF EXISTS "${trigger}" ON ${table}`,
    // At a start there may be none.
    replace: `
      DO $$
      BEGIN
        ALTER TABLE ${table.replace(/;?`$/, "")} DISABLE TRIGGER "${trigger}";
      EXCEPTION WHEN undefined_object THEN
      END $$\``,
  };
}
