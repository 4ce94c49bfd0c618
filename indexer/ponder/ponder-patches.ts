import type { Patch } from "../../module-patch.ts";
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
