import type { Abi, Hex } from "viem";
import { approvalAbi } from "./abis/approval.ts";
import { BLUR_V1_ADDRESS, BLUR_V2_ADDRESS, blurV1Abi, blurV2Abi } from "./abis/blur.ts";
import { cryptopunksAbi } from "./abis/cryptopunks.ts";
import { ELEMENT_ADDRESSES, elementAbi } from "./abis/element.ts";
import { erc1155Abi } from "./abis/erc1155.ts";
import { erc2309Abi } from "./abis/erc2309.ts";
import { erc721Abi, erc721DraftAbi, erc721FirstGenerationAbi } from "./abis/erc721.ts";
import { FOUNDATION_ADDRESS, foundationAbi } from "./abis/foundation.ts";
import { LOOKSRARE_V1_ADDRESS, LOOKSRARE_V2_ADDRESS, looksrareV1Abi, looksrareV2Abi } from "./abis/looksrare.ts";
import { contractUpdateAbi, metadataAbi, metadataVariantAbi } from "./abis/metadata.ts";
import {
  PAYMENT_PROCESSOR_V1_ADDRESSES,
  PAYMENT_PROCESSOR_V2_ADDRESSES,
  paymentProcessorV1Abi,
  paymentProcessorV2Abi,
} from "./abis/payment-processor.ts";
import { CONDUIT_CONTROLLER_ADDRESS, conduitControllerAbi, SEAPORT_ADDRESSES, seaportAbi } from "./abis/seaport.ts";
import {
  SUPER_RARE_ADDRESSES,
  SUPER_RARE_BAZAAR_ADDRESSES,
  superRareAbi,
  superRareBazaarAbi,
} from "./abis/superrare.ts";
import { WYVERN_ADDRESSES, wyvernAbi } from "./abis/wyvern.ts";
import { X2Y2_ADDRESS, x2y2Abi } from "./abis/x2y2.ts";
import { ZERO_EX_ADDRESSES, zeroExAbi } from "./abis/zeroex.ts";
import {
  ZORA_ADDRESSES,
  ZORA_AUCTION_HOUSE_ADDRESSES,
  ZORA_MODULE_MANAGER_ADDRESS,
  ZORA_RESERVE_AUCTION_ADDRESSES,
  zoraAbi,
  zoraAuctionHouseAbi,
  zoraModuleAbi,
  zoraReserveAuctionAbi,
} from "./abis/zora.ts";
import type { Config, Network } from "./config.ts";

/** Logs that are indexed: the events of an interface, of some contracts or of all. Ponder and `history/` both ask for it. */
export type Source = {
  /** What its logs do stands under this name in `src/definitions.ts`. */
  name: string;
  abi: Abi;
  /** Lower case; may be empty. */
  addresses: Hex[] | "*";
  /** Its logs tell of sales: who signed their transaction matters where a token moves more than once in it. */
  needsSender: boolean;
};

/** The token contracts whose logs some sources ask for. */
export const tokenContractsOf = (sources: readonly Source[]): Hex[] | "*" =>
  sources.find(({ name }) => name === "Erc721")?.addresses ?? "*";

const CRYPTOPUNKS_ADDRESS = "0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb";

/**
 * Contracts whose Transfers index nothing, by chain id, where not all are asked for. Such a Transfer can't be told from
 * a fungible token's before it is fetched, and those are 98 of 100 Transfers on Ethereum: without them one in fifty is
 * fetched. CryptoKitties.
 */
const FIRST_GENERATION_ADDRESSES: Record<number, Hex[]> = { 1: ["0x06012c8cf97bead5deae237070f9587f8e7a266d"] };

/** The sources of a network, in the order in which they see a log that several of them want. */
export function listSources(
  { networks, cryptopunksAddresses, seaportAddresses }: Config,
  { network, chainId }: { network: Network; chainId: number },
): Source[] {
  const { contracts, firstGenerationContracts } = networks[network]!;
  const listed = contracts as Hex[] | "*";
  const firstGeneration = firstGenerationContracts ?? FIRST_GENERATION_ADDRESSES[chainId] ?? "*";
  // Nothing in such a Transfer tells it from a fungible token's, of hybrids neither: only who is named writes it.
  const named = (firstGeneration === "*" ? [] : firstGeneration).filter(
    (address) => contracts === "*" || contracts.includes(address),
  ) as Hex[];
  const punks = [CRYPTOPUNKS_ADDRESS, ...cryptopunksAddresses].filter(
    (address) => contracts === "*" || contracts.includes(address),
  );
  const tokens = { addresses: listed, needsSender: false };
  // By addresses besides topics, everywhere: what others write in these words says nothing.
  const exchange = (name: string, abi: Abi, ...addresses: string[]): Source => ({
    name,
    abi,
    addresses: [...new Set(addresses)] as Hex[],
    needsSender: true,
  });
  // Where they differ by chain, those of another one are not asked for.
  const here = (addresses: Record<number, string[]>) => addresses[chainId] ?? [];
  return [
    { name: "Erc721", abi: erc721Abi, ...tokens },
    {
      name: "Erc721FirstGeneration",
      abi: erc721FirstGenerationAbi,
      addresses: listed === "*" ? (firstGeneration as Hex[] | "*") : listed,
      needsSender: false,
    },
    { name: "Erc721Draft", abi: erc721DraftAbi, addresses: named, needsSender: false },
    { name: "Erc2309", abi: erc2309Abi, ...tokens },
    { name: "Erc1155", abi: erc1155Abi, ...tokens },
    { name: "Metadata", abi: metadataAbi, ...tokens },
    { name: "MetadataVariant", abi: metadataVariantAbi, ...tokens },
    { name: "ContractUpdate", abi: contractUpdateAbi, ...tokens },
    exchange("Seaport", seaportAbi, ...SEAPORT_ADDRESSES, ...seaportAddresses),
    { ...exchange("ConduitController", conduitControllerAbi, CONDUIT_CONTROLLER_ADDRESS), needsSender: false },
    { name: "Approval", abi: approvalAbi, ...tokens },
    exchange("BlurV1", blurV1Abi, BLUR_V1_ADDRESS),
    exchange("BlurV2", blurV2Abi, BLUR_V2_ADDRESS),
    exchange("LooksRareV1", looksrareV1Abi, LOOKSRARE_V1_ADDRESS),
    exchange("LooksRareV2", looksrareV2Abi, LOOKSRARE_V2_ADDRESS),
    exchange("X2Y2", x2y2Abi, X2Y2_ADDRESS),
    exchange("Wyvern", wyvernAbi, ...WYVERN_ADDRESSES),
    exchange("Zora", zoraAbi, ...ZORA_ADDRESSES),
    { ...exchange("ZoraModules", zoraModuleAbi, ZORA_MODULE_MANAGER_ADDRESS), needsSender: false },
    exchange("ZoraReserveAuction", zoraReserveAuctionAbi, ...here(ZORA_RESERVE_AUCTION_ADDRESSES)),
    exchange("ZoraAuctionHouse", zoraAuctionHouseAbi, ...here(ZORA_AUCTION_HOUSE_ADDRESSES)),
    exchange("Foundation", foundationAbi, FOUNDATION_ADDRESS),
    exchange("PaymentProcessorV1", paymentProcessorV1Abi, ...here(PAYMENT_PROCESSOR_V1_ADDRESSES)),
    exchange("PaymentProcessorV2", paymentProcessorV2Abi, ...PAYMENT_PROCESSOR_V2_ADDRESSES),
    exchange("Element", elementAbi, ...here(ELEMENT_ADDRESSES)),
    exchange("SuperRare", superRareAbi, ...here(SUPER_RARE_ADDRESSES)),
    exchange("SuperRareBazaar", superRareBazaarAbi, ...here(SUPER_RARE_BAZAAR_ADDRESSES)),
    exchange("ZeroEx", zeroExAbi, ...here(ZERO_EX_ADDRESSES)),
    exchange("CryptoPunks", cryptopunksAbi, ...punks),
  ];
}
