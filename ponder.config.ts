/** One network for one Ponder process: `INDEXER_NETWORK` says which. `indexer/ponder/ponder-process.ts` starts it. */
import { createConfig } from "ponder";
import type { Hex } from "viem";
import { ConfigError, type Network, readConfig } from "./config.ts";
import { filterOfSources } from "./history/source-filter.ts";
import { createMatcher } from "./history/wanted.ts";
import { listSources } from "./sources.ts";

/** Nobody can write logs in its name: stands for "no contract", which Ponder doesn't take. */
const NO_CONTRACT = "0x0000000000000000000000000000000000000000";

/** Each URL starts at 20 requests a second and rises slowly, so the same URL is given several times: 45.8 s became 6.6. */
const RPC_LANES = 25;

const config = readConfig(process.env);
const network = process.env.INDEXER_NETWORK as Network;
const settings = config.networks[network];
if (!settings?.chainId) throw new ConfigError(`INDEXER_NETWORK is "${network}". Expected a configured network.`);

const { rpcUrls, chainId } = settings;
const lanesPerUrl = Math.ceil(RPC_LANES / rpcUrls.length);
const lanes = Array.from({ length: lanesPerUrl }, (_, lane) => lane);
// What follows # in a URL is never sent. In turns, because Ponder tries lanes that it knows nothing of one after the
// other and gives up after ten: the lanes of one dead URL would be all that it tries.
const rpc = lanes.flatMap((lane) => rpcUrls.map((url) => `${url}#${lane}`));

// What comes before is history, and loaded by `history/`.
const startBlock = Number(process.env.INDEXER_FIRST_BLOCK ?? settings.startBlock);
const place = { chain: network, startBlock, endBlock: settings.endBlock };
const sources = listSources(config, { network, chainId });
const contracts = sources.map(({ name, abi, addresses }) => {
  const [first = NO_CONTRACT, ...others] = addresses === "*" ? [] : addresses;
  return [name, { abi, ...place, ...(addresses !== "*" && { address: [first, ...others] }) }] as const;
});

// For `indexer/ponder/log-number.ts`, which Ponder loads as text.
const matches = createMatcher(filterOfSources(sources));
globalThis.isWantedLog = ({ address, topics: [topic, ...others] }) =>
  topic !== undefined && matches(lowerOf(address), lowerOf(topic), 1 + others.length);

function lowerOf(hex: string): Hex {
  return hex.toLowerCase() as Hex;
}

declare global {
  var isWantedLog: (log: { address: string; topics: string[] }) => boolean;
}

export default createConfig({
  database: { kind: "postgres", connectionString: config.databaseUrl },
  chains: { [network]: { id: chainId, rpc, pollingInterval: config.pollIntervalMs } },
  contracts: Object.fromEntries(contracts),
});
