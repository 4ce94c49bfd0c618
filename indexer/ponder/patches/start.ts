import type { Patch } from "../../../module-patch.ts";

/** What Ponder loads, reads and writes when it starts. */
export const START_PATCHES: readonly Patch[] = [
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
  {
    // What it has taken for final stays so: where the head is lower than at its last stop, after a reorg or at a node that
    // lags, it refused to go on until the chain was as long again.
    file: "/ponder/dist/esm/build/config.js",
    find: "Math.max(latest - chain.finalityBlockCount, 0)",
    replace:
      "Math.max(latest - chain.finalityBlockCount, Math.min(latest, Number(process.env.INDEXER_FINALIZED_BLOCK)))",
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
    // What is set there would be Ponder's alone: history and the head would have different contracts.
    file: "/ponder/dist/esm/bin/ponder.js",
    find: 'dotenv.config({ path: ".env.local" });',
    replace: "",
  },
  {
    // How late its timers are, which nobody asks it for, it looked at a thousand times a second: a live indexer took five
    // times the CPU.
    file: "/ponder/dist/esm/internal/metrics.js",
    find: "eventLoopMonitoringPrecision: 1,",
    replace: "eventLoopMonitoringPrecision: 60_000,",
  },
  {
    // It writes a file at each start that is in the repository anyway. Where the installation is read-only, that would fail.
    file: "/ponder/dist/esm/bin/utils/codegen.js",
    find: 'writeFileSync(path.join(common.options.rootDir, "ponder-env.d.ts"), ponderEnv, "utf8");',
    replace: "",
  },
];
