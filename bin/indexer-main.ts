/** Follows the configured networks into the database of DATABASE_URL. `indexer.ts` starts it. */
import { ConfigError, isLogged, NETWORKS } from "../config.ts";
import { describeUnread, readConfigOrExit } from "../environment.ts";
import { followNetwork } from "../indexer/network.ts";
import { type Log, markBegun } from "../indexer/network-report.ts";
import { findChain, requireDifferentChains } from "../indexer/rpc/rpc-chain.ts";
import { createPool } from "../postgres/pool.ts";
import { prepareDatabase, requireDatabase } from "./database-check.ts";
import { endInTime, exitWith, outliveReader, stopSignal, SUPERSEDED_CODE, takeNoArguments } from "./process.ts";

takeNoArguments();
outliveReader();
const config = readConfigOrExit();
const signal = stopSignal();
endInTime(signal);
try {
  if (!config.networks.mainnet)
    throw new ConfigError("MAINNET_RPC_URL is not set. Expected http or https URLs, comma-separated.");
  const isShown = { info: isLogged("info", config.logLevel), error: config.logLevel !== "silent" };
  const log: Log = (level, line) => isShown[level] && console.log(line);
  // Where `npm start` has started this, it has said so.
  if (!process.connected) for (const line of describeUnread(process.env)) log("error", line);
  const databaseUrl = await requireDatabase(config);
  const networks = NETWORKS.filter((network) => config.networks[network]);
  const chains = await Promise.all(
    networks.map((network) =>
      findChain(network.toUpperCase(), config.networks[network]!, { log: (line) => log("error", line) }),
    ),
  );
  const chainIds = Object.fromEntries(networks.map((network, place) => [network, chains[place]!.chainId]));
  requireDifferentChains(chainIds);
  const sql = createPool(databaseUrl, { max: 4 * networks.length });
  await prepareDatabase(sql, { url: databaseUrl });
  await sql`delete from offchain.network where name not in ${sql(networks)}`;
  await markBegun(sql, chainIds);
  const outcomes = await Promise.all(
    networks.map((network, place) =>
      followNetwork(sql, { config, network, chain: chains[place]!, databaseUrl, signal, log }),
    ),
  );
  await sql.end({ timeout: 5 });
  process.exit(outcomes.includes("superseded") && !signal.aborted ? SUPERSEDED_CODE : 0);
} catch (error) {
  exitWith(error);
}
