/** One network for one Ponder process: `INDEXER_NETWORK` says which. `indexer/ponder-process.ts` starts it. */
import { createConfig } from "ponder";
import type { Hex } from "viem";
import { cryptopunksAbi } from "./abis/cryptopunks.ts";
import { erc1155Abi } from "./abis/erc1155.ts";
import { erc2309Abi } from "./abis/erc2309.ts";
import { erc721Abi, erc721FirstGenerationAbi } from "./abis/erc721.ts";
import { metadataAbi } from "./abis/metadata.ts";
import { ConfigError, type Network, readConfig } from "./config.ts";

const CRYPTOPUNKS_ADDRESS = "0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb";

/** Nobody can write logs in its name: stands for "no contract", which Ponder doesn't take. */
const NO_CONTRACT = "0x0000000000000000000000000000000000000000";

/** Each URL starts at 20 requests a second and rises slowly, so the same URL is given several times: 45.8 s became 6.6. */
const RPC_LANES = 25;

const config = readConfig(process.env);
const network = process.env.INDEXER_NETWORK as Network;
const settings = config.networks[network];
if (!settings?.chainId) throw new ConfigError(`INDEXER_NETWORK is "${network}". Expected a configured network.`);

const { rpcUrls, contracts } = settings;
const lanesPerUrl = Math.ceil(RPC_LANES / rpcUrls.length);
const lanes = Array.from({ length: lanesPerUrl }, (_, lane) => lane);
// What follows # in a URL is never sent. In turns, because Ponder tries lanes that it knows nothing of one after the
// other and gives up after ten: the lanes of one dead URL would be all that it tries.
const rpc = lanes.flatMap((lane) => rpcUrls.map((url) => `${url}#${lane}`));

const place = { chain: network, startBlock: settings.startBlock, endBlock: settings.endBlock };
const listed = contracts === "*" ? place : { ...place, address: contracts as Hex[] };
const punks = [CRYPTOPUNKS_ADDRESS, ...config.cryptopunksAddresses].filter(
  (address) => contracts === "*" || contracts.includes(address),
);

export default createConfig({
  database: { kind: "postgres", connectionString: config.databaseUrl },
  chains: { [network]: { id: settings.chainId, rpc, pollingInterval: 500 } },
  contracts: {
    Erc721: { abi: erc721Abi, ...listed },
    Erc721FirstGeneration: { abi: erc721FirstGenerationAbi, ...listed },
    Erc2309: { abi: erc2309Abi, ...listed },
    Erc1155: { abi: erc1155Abi, ...listed },
    Metadata: { abi: metadataAbi, ...listed },
    CryptoPunks: { abi: cryptopunksAbi, ...place, address: (punks.length > 0 ? punks : [NO_CONTRACT]) as Hex[] },
  },
});
