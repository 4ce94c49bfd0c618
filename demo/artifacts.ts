import { readFileSync } from "node:fs";
import { encodeDeployData, encodeFunctionData, type Hex } from "viem";
import { ARTIFACTS_PATH, type Artifact } from "./compile.ts";

/** The NFT contracts of the demo, in order of deployment. */
export const NFT_CONTRACTS = [
  "TidalGlyphs",
  "PaperCranes",
  "HarborProvisions",
  "LighthouseLetters",
  "MothAtlas",
  "MeadowSeeds",
  "WeatherStations",
] as const;
/** One of `NFT_CONTRACTS`. */
export type NftContract = (typeof NFT_CONTRACTS)[number];
/** Those of them that are ERC-1155; the others are ERC-721. */
export const ERC1155_CONTRACTS: readonly NftContract[] = ["HarborProvisions", "MeadowSeeds"];
/** A contract of the demo: Driftwood is the fungible token among them. */
export type DemoContract = NftContract | "Driftwood";
/** Those that live at one address on every chain. */
type CanonicalContract = "Multicall3" | "WrappedEther";

const artifacts = JSON.parse(readFileSync(ARTIFACTS_PATH, "utf8")) as Record<
  DemoContract | CanonicalContract,
  Artifact
>;

/** Whether tokens of a contract are ERC-1155. */
export function isErc1155(contract: NftContract): boolean {
  return ERC1155_CONTRACTS.includes(contract);
}

/** Transaction data that deploys a contract. */
export function encodeDeployment(contract: DemoContract | CanonicalContract, args: readonly unknown[] = []): Hex {
  return encodeDeployData({ ...artifacts[contract], args });
}

/** Transaction data that calls a contract. */
export function encodeCall(contract: DemoContract, functionName: string, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: artifacts[contract].abi, functionName, args });
}
