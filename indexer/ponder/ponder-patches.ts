import type { Patch } from "../../module-patch.ts";
import { withRangeEnd } from "./range-end.ts";
import { DEFAULTS, KEEPALIVE, UNREAD_ANSWER } from "../../session.ts";

/** Changes to Ponder 0.17.7 as it is loaded; a version in which the place looks otherwise is refused. */

export const PONDER_PATCHES: readonly Patch[] = [
  // It has Vite transform our files, which Node runs as they are: 1.2 s of the 4 s of CPU until it works. The modules that
  // it makes up for them are in `ponder-registry.ts`.
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
  // Two thirds of its 3,300 modules are for a GraphQL server that nobody starts, and for what viem knows of 700 chains, of
  // which it takes the id that it has: half a second of a start.
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
  // Of PGlite, a Postgres in WebAssembly, nothing is used where there is a real one.
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
    // a `do` and a `select`, before which all rows in memory are written, not only those of its tables.
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
    // Its column for the nonce has 31 bits, and a block with a larger one would stop it for good. Nobody reads the nonce.
    file: "/ponder/dist/esm/rpc/actions.js",
    find: "if (hexToBigInt(transaction.nonce) > BigInt(PG_INTEGER_MAX)) {",
    replace: `
        if (hexToBigInt(transaction.nonce) > BigInt(PG_INTEGER_MAX)) transaction.nonce = "0x0";
        if (false) {`,
  },
  // For a reorg it drops the triggers of its tables and makes them anew. It waits for all readers with that, others wait
  // behind it, and Postgres keeps what it made of each trigger for as long as the session lasts. Those that are disabled
  // are enabled again where it replaces them. They are of three kinds.
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
  // For each block it makes a table, in which a trigger of each row notes what has changed, for clients that follow a query.
  // It has none.
  ...Object.entries({
    "await createLiveQueryTriggers(database.adminQB, { namespaceBuild, tables });": "",
    "await tx.wrap((tx) => tx.execute(`CREATE TEMP TABLE ${getLiveQueryTempTableName()} (table_name TEXT PRIMARY KEY) ON COMMIT DROP`), context);":
      "",
    "await dropLiveQueryTriggers(tx, { namespaceBuild, tables }, context);": "",
    "await createLiveQueryTriggers(tx, { namespaceBuild, tables }, context);": "",
  }).map(([find, replace]) => ({ file: "/ponder/dist/esm/runtime/multichain.js", find, replace })),
  {
    // A head that failed, because the backend that was asked for its logs lagged, would count as seen: nobody would ask
    // for it again until the next block comes, which on a quiet chain may be never.
    file: "/ponder/dist/esm/sync-realtime/index.js",
    find: "onError(_error, block);",
    replace: `
                if (latestFetchedBlock === block) latestFetchedBlock = undefined;
                onError(_error, block);`,
  },
  {
    // Filecoin's nodes set every bit of every bloom. Such a block was taken for one whose logs the node had lost.
    file: "/ponder/dist/esm/rpc/actions.js",
    find: "if (block.logsBloom !== zeroLogsBloom && logs.length === 0) {",
    replace: "if (block.logsBloom !== zeroLogsBloom && !/^0xf+$/.test(block.logsBloom) && logs.length === 0) {",
  },
  {
    // The least that a node is known to take in one query. Only blocks that were final before its start are asked for so.
    file: "/ponder/dist/esm/rpc/actions.js",
    find: "const ADDRESS_CHUNK_SIZE = 50;",
    replace: "const ADDRESS_CHUNK_SIZE = 20;",
  },
  {
    // It asks for the logs of each source by itself: on Ethereum 21 queries for each range of blocks. Those of the same
    // blocks are asked for together, which makes two, and it leaves out itself what no source wants of that.
    file: "/ponder/dist/esm/sync-historical/index.js",
    find: "...Array.from(mergedEthGetLogsParams.values()),",
    replace: `
                ...[...Map.groupBy(mergedEthGetLogsParams.values(), ({ interval }) => interval.join())].map(([, alike]) => ({
                    ...alike[0],
                    address: [...new Set(alike.flatMap(({ address }) => address))],
                    topic0: [...new Set(alike.flatMap(({ topic0 }) => topic0))],
                })),`,
  },
  // It takes what a node that lags gives for the logs of a range for all there are, and never asks for them again.
  ...Object.entries({
    "export function getHttpRpcClient(url, options) {": `
      export const getHttpRpcClient = (url, options) => withRangeEnd(createClient(url, options));
      ${withRangeEnd.toString()}
      function createClient(url, options) {`,
    // A batch, too.
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
    // A node that tells no bloom is asked for the logs of every block, as one is whose blooms are empty.
    file: "/ponder/dist/esm/rpc/actions.js",
    find: "if (block.logsBloom === undefined) {",
    replace: `
    block.logsBloom ??= zeroLogsBloom;
    if (false) {`,
  },
  {
    // It writes a file at each start, which fails where whoever runs the service may only read what is installed, and which
    // is in the repository.
    file: "/ponder/dist/esm/bin/utils/codegen.js",
    find: 'writeFileSync(path.join(common.options.rootDir, "ponder-env.d.ts"), ponderEnv, "utf8");',
    replace: "",
  },
  {
    // What its sessions hold when the machine is lost would be held for as long as nobody notices. It has bounds of its own.
    file: "/ponder/dist/esm/utils/pg.js",
    find: `
                super.connect(() => {
                    this.query(\`
            SET synchronous_commit = off;`,
    replace: `
                super.connect(() => {
                    this.query(\`
            ${Object.entries({ ...KEEPALIVE, ...UNREAD_ANSWER, ...DEFAULTS })
              .map(([name, value]) => `SET ${name} = '${value}';`)
              .join(" ")}
            SET synchronous_commit = off;`,
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
