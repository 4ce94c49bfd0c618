import { type Address, keccak256, maxUint256, numberToHex } from "viem";
import type { NftContract } from "./artifacts.ts";
import {
  addUnits,
  type Call,
  type Holding,
  listHoldings,
  moveUnits,
  pickHolding,
  pickOther,
  removeUnits,
  type World,
} from "./world.ts";

const ERC721_CONTRACTS: NftContract[] = [
  "TidalGlyphs",
  "PaperCranes",
  "LighthouseLetters",
  "MothAtlas",
  "WeatherStations",
];
const BURNABLE_CONTRACTS: NftContract[] = ["TidalGlyphs", "PaperCranes", "LighthouseLetters", "MothAtlas"];

/** Mints one on-chain picture. */
export function mintGlyph(world: World, to = world.random.pick(world.collectors)): Call {
  addUnits(world, { contract: "TidalGlyphs", tokenId: takeNextId(world, "TidalGlyphs") + 1n, owner: to, units: 1n });
  return { from: to, contract: "TidalGlyphs", functionName: "mint", args: [to] };
}

/** Minted and burned in one transaction. */
export function glimpse(world: World): Call {
  takeNextId(world, "TidalGlyphs");
  const from = world.random.pick(world.collectors);
  return { from, contract: "TidalGlyphs", functionName: "glimpse", args: [from] };
}

/** A small number, or one of the last ones below 2^256, or a hash: ids as they are found in the wild. */
export function mintLetter(world: World, wanted?: bigint): Call {
  const to = world.random.pick(world.collectors);
  const number = takeNextId(world, "LighthouseLetters");
  const chosen = [number + 1n, maxUint256 - 1n - number, BigInt(keccak256(numberToHex(number)))] as const;
  const tokenId = wanted ?? world.random.pick(chosen);
  addUnits(world, { contract: "LighthouseLetters", tokenId, owner: to, units: 1n });
  return { from: to, contract: "LighthouseLetters", functionName: "mint", args: [to, tokenId] };
}

/** Mints several in one call: a Transfer each. */
export function mintMoths(
  world: World,
  to = world.random.pick(world.collectors),
  quantity = 1 + world.random.below(5),
): Call {
  for (let i = 0; i < quantity; i += 1)
    addUnits(world, { contract: "MothAtlas", tokenId: takeNextId(world, "MothAtlas") + 1n, owner: to, units: 1n });
  return { from: to, contract: "MothAtlas", functionName: "collect", args: [to, BigInt(quantity)] };
}

/** More cranes than those of the constructor. */
export function foldCranes(world: World): Call {
  const to = world.random.pick(world.collectors);
  const quantity = 1 + world.random.below(3);
  bookMint(world, { contract: "PaperCranes", owner: to, quantity });
  return { from: to, contract: "PaperCranes", functionName: "fold", args: [to, BigInt(quantity)] };
}

/** Books tokens of a contract that counts its ids from 0. */
export function bookMint(
  world: World,
  { contract, owner, quantity }: { contract: NftContract; owner: Address; quantity: number },
): void {
  for (let i = 0; i < quantity; i += 1)
    addUnits(world, { contract, tokenId: takeNextId(world, contract), owner, units: 1n });
}

/** Mints a weather station. */
export function openStation(world: World, to: Address): Call {
  const tokenId = takeNextId(world, "WeatherStations");
  addUnits(world, { contract: "WeatherStations", tokenId, owner: to, units: 1n });
  return { from: to, contract: "WeatherStations", functionName: "open", args: [to] };
}

/** ERC-4906 MetadataUpdate. */
export function reportWeather(world: World): Call | undefined {
  const station = pickHolding(world, ["WeatherStations"]);
  if (!station) return undefined;
  const args = [station.tokenId, world.random.below(450) - 100, world.random.below(5)];
  return { from: station.owner, contract: "WeatherStations", functionName: "report", args };
}

/** ERC-4906 BatchMetadataUpdate over all ids there can be. */
export function turnSeason(world: World): Call {
  return { from: world.studio, contract: "WeatherStations", functionName: "turnSeason", args: [] };
}

/** The cranes of the ERC-2309 mint find their collectors. */
export function giveCrane(world: World): Call | undefined {
  const crane = listHoldings(world, { contract: "PaperCranes", owner: world.studio })[0];
  return crane && moveToken(world, { holding: crane, to: world.random.pick(world.collectors) });
}

/** Any ERC-721 token changes hands; now and then its owner sends it to themselves. */
export function transferToken(world: World): Call | undefined {
  const holding = pickHolding(world, ERC721_CONTRACTS);
  if (!holding) return undefined;
  return moveToken(world, { holding, to: world.random.chance(3) ? holding.owner : pickOther(world, holding.owner) });
}

/** A self-transfer. */
export function sendToSelf(world: World): Call | undefined {
  const holding = pickHolding(world, ["TidalGlyphs"]);
  return holding && moveToken(world, { holding, to: holding.owner });
}

/** An owner burns a token. */
export function burnToken(world: World): Call | undefined {
  const holding = pickHolding(world, BURNABLE_CONTRACTS);
  if (!holding) return undefined;
  removeUnits(world, { ...holding, units: 1n });
  return { from: holding.owner, contract: holding.contract, functionName: "burn", args: [holding.tokenId] };
}

function moveToken(world: World, { holding, to }: { holding: Holding; to: Address }): Call {
  const { contract, tokenId, owner } = holding;
  moveUnits(world, { item: holding, to });
  return { from: owner, contract, functionName: "transferFrom", args: [owner, to, tokenId] };
}

function takeNextId(world: World, contract: NftContract): bigint {
  const id = world.minted[contract];
  world.minted[contract] += 1n;
  return id;
}
