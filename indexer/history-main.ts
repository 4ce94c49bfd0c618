/**
 * The process that loads one deployment's history, from where it was left off. It may be killed at any moment: rows are
 * committed together with how far they go.
 */
import type { Network } from "../config.ts";
import { readConfigOrExit } from "../environment.ts";
import { readHistory } from "../history/keep/read-history.ts";
import { loadHistory } from "../history/load/load.ts";
import { filterOfSources } from "../history/source-filter.ts";
import { createPool } from "../postgres/pool.ts";
import { listSources } from "../sources.ts";
import { findBySchema, historySchemaOf, markLoaded } from "./deployment.ts";
import type { FromHistory } from "./history-process.ts";
import { indexStatements } from "./indexes.ts";
import { loadDirectoryOf } from "./load-directory.ts";

// When the parent process dies, in whatever way, so does this one.
process.once("disconnect", () => process.exit(1));
const tell = (message: FromHistory) => process.send?.(message);

const [schemaName = ""] = process.argv.slice(2);
const config = readConfigOrExit();
const databaseUrl = config.databaseUrl!;
const network = process.env.INDEXER_NETWORK as Network;
const { rpcUrls, startBlock, chainId } = config.networks[network]!;
tell({ progress: { block: Math.max(0, startBlock - 1), progress: 0, logsPerSecond: 0, etaSeconds: null } });

// A process that was started before this one may not be dead yet, and must not write beside it.
const sql = createPool(databaseUrl, { max: 1, max_lifetime: null });
await sql`select pg_advisory_lock(hashtextextended(${`history of ${schemaName}`}, 0))`;
const deployment = await findBySchema(sql, schemaName);
if (!deployment) throw new Error(`There is no deployment ${schemaName}`);
// That process had finished, though nobody saw it end.
if (deployment.history_loaded_at) process.exit(0);
const toBlock = deployment.history_block!;
const chain = { chainId: deployment.chain_id, genesisHash: deployment.genesis_hash };
const sources = listSources(config, { network, chainId: chainId! });
const filter = filterOfSources(sources);

const onProblem = (problem: string) => tell({ problem });
const historySchema = historySchemaOf(deployment);
await loadHistory({
  databaseUrl,
  schemaName: historySchema,
  chainId: chainId!,
  sources,
  indexes: indexStatements(historySchema),
  fromBlock: startBlock,
  toBlock,
  directory: loadDirectoryOf(config, deployment),
  readChunks: (fromBlock) => readHistory({ databaseUrl, chain, rpcUrls, filter, fromBlock, toBlock, onProblem }),
  onProgress: (progress) => tell({ progress }),
});
await markLoaded(sql, deployment);
await sql.end();
process.exit(0);
