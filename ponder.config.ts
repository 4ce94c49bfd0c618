/** One network for one Ponder process: `INDEXER_NETWORK` says which. `indexer/ponder-process.ts` starts it. */
import { createConfig } from "ponder";
import type { Hex } from "viem";
import { approvalAbi } from "./abis/approval.ts";
import { BLUR_V1_ADDRESS, BLUR_V2_ADDRESS, blurV1Abi, blurV2Abi } from "./abis/blur.ts";
import { cryptopunksAbi } from "./abis/cryptopunks.ts";
import { erc1155Abi } from "./abis/erc1155.ts";
import { erc2309Abi } from "./abis/erc2309.ts";
import { erc721Abi, erc721FirstGenerationAbi } from "./abis/erc721.ts";
import { FOUNDATION_ADDRESS, foundationAbi } from "./abis/foundation.ts";
import { LOOKSRARE_V1_ADDRESS, LOOKSRARE_V2_ADDRESS, looksrareV1Abi, looksrareV2Abi } from "./abis/looksrare.ts";
import { metadataAbi } from "./abis/metadata.ts";
import { CONDUIT_CONTROLLER_ADDRESS, conduitControllerAbi, SEAPORT_ADDRESSES, seaportAbi } from "./abis/seaport.ts";
import { WYVERN_ADDRESSES, wyvernAbi } from "./abis/wyvern.ts";
import { X2Y2_ADDRESS, x2y2Abi } from "./abis/x2y2.ts";
import { ZORA_ADDRESSES, zoraAbi } from "./abis/zora.ts";
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
const seaports = [...new Set([...SEAPORT_ADDRESSES, ...config.seaportAddresses])];

export default createConfig({
  database: { kind: "postgres", connectionString: config.databaseUrl },
  chains: { [network]: { id: settings.chainId, rpc, pollingInterval: 500 } },
  contracts: {
    Erc721: { abi: erc721Abi, ...listed },
    Erc721FirstGeneration: { abi: erc721FirstGenerationAbi, ...listed },
    Erc2309: { abi: erc2309Abi, ...listed },
    Erc1155: { abi: erc1155Abi, ...listed },
    Metadata: { abi: metadataAbi, ...listed },
    // Addresses besides topics, everywhere: what others write in these words says nothing.
    Seaport: { abi: seaportAbi, ...place, address: seaports as Hex[] },
    ConduitController: { abi: conduitControllerAbi, ...place, address: CONDUIT_CONTROLLER_ADDRESS },
    Approval: { abi: approvalAbi, ...listed },
    BlurV1: { abi: blurV1Abi, ...place, address: BLUR_V1_ADDRESS },
    BlurV2: { abi: blurV2Abi, ...place, address: BLUR_V2_ADDRESS },
    LooksRareV1: { abi: looksrareV1Abi, ...place, address: LOOKSRARE_V1_ADDRESS },
    LooksRareV2: { abi: looksrareV2Abi, ...place, address: LOOKSRARE_V2_ADDRESS },
    X2Y2: { abi: x2y2Abi, ...place, address: X2Y2_ADDRESS },
    Wyvern: { abi: wyvernAbi, ...place, address: WYVERN_ADDRESSES as Hex[] },
    Zora: { abi: zoraAbi, ...place, address: ZORA_ADDRESSES as Hex[] },
    Foundation: { abi: foundationAbi, ...place, address: FOUNDATION_ADDRESS },
    CryptoPunks: { abi: cryptopunksAbi, ...place, address: (punks.length > 0 ? punks : [NO_CONTRACT]) as Hex[] },
  },
});
