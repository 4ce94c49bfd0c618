import type { Address } from "viem";
import type { DemoContract, NftContract } from "./artifacts.ts";
import type { Random } from "./random.ts";

/** Who takes part, in the order of anvil's accounts. The studio deploys, the broker runs the market; the others collect. */
export const PERSONAS = [
  "studio",
  "broker",
  "ada",
  "bento",
  "chidi",
  "dagny",
  "emeka",
  "freya",
  "gustav",
  "hana",
  "ines",
  "jun",
  "kirra",
  "lars",
  "mirela",
] as const;

/** Units of one token with one owner. An ERC-721 token has one holding of one unit. */
export type Holding = { contract: NftContract; tokenId: bigint; owner: Address; units: bigint };

/** What is on the chain, so that each new event is one that can happen. */
export type World = {
  random: Random;
  studio: Address;
  broker: Address;
  collectors: readonly Address[];
  holdings: Record<NftContract, Map<string, Holding>>;
  /** How many tokens were ever minted: contracts that count their ids go on from there. */
  minted: Record<NftContract, bigint>;
};

/** A call that somebody makes to one of the contracts. */
export type Call = { from: Address; contract: DemoContract; functionName: string; args: readonly unknown[] };

/** A world without tokens. @throws Error where there are fewer than two accounts */
export function createWorld({ random, accounts }: { random: Random; accounts: readonly Address[] }): World {
  const [studio, broker, ...collectors] = accounts;
  if (!studio || !broker) throw new Error("The chain has no accounts. Expected one for each persona.");
  return {
    random,
    studio,
    broker,
    collectors,
    holdings: {
      TidalGlyphs: new Map(),
      PaperCranes: new Map(),
      HarborProvisions: new Map(),
      LighthouseLetters: new Map(),
      MothAtlas: new Map(),
      MeadowSeeds: new Map(),
      WeatherStations: new Map(),
    },
    minted: {
      TidalGlyphs: 0n,
      PaperCranes: 0n,
      HarborProvisions: 0n,
      LighthouseLetters: 0n,
      MothAtlas: 0n,
      MeadowSeeds: 0n,
      WeatherStations: 0n,
    },
  };
}

/** Books units in. */
export function addUnits(world: World, { contract, tokenId, owner, units }: Holding): void {
  const holdings = world.holdings[contract];
  const key = keyOf({ tokenId, owner });
  const held = holdings.get(key)?.units ?? 0n;
  holdings.set(key, { contract, tokenId, owner, units: held + units });
}

/** Books units out. */
export function removeUnits(world: World, { contract, tokenId, owner, units }: Holding): void {
  const holdings = world.holdings[contract];
  const key = keyOf({ tokenId, owner });
  const held = holdings.get(key)?.units ?? 0n;
  if (held < units) throw new Error(`${owner} holds ${held} of ${contract} ${tokenId}. Expected ${units} or more.`);
  if (held === units) holdings.delete(key);
  else holdings.set(key, { contract, tokenId, owner, units: held - units });
}

/** A holding of one of these contracts, or undefined where nobody holds anything. */
export function pickHolding(world: World, contracts: readonly NftContract[]): Holding | undefined {
  const holdings = [...world.holdings[world.random.pick(contracts)].values()];
  return holdings.length === 0 ? undefined : world.random.pick(holdings);
}

/** All that one account holds of a contract. */
export function listHoldings(world: World, { contract, owner }: { contract: NftContract; owner: Address }): Holding[] {
  return [...world.holdings[contract].values()].filter((holding) => holding.owner === owner);
}

/** Any collector but this one. */
export function pickOther(world: World, account: Address): Address {
  return world.random.pick(world.collectors.filter((collector) => collector !== account));
}

/** Books units from one owner to another. */
export function moveUnits(world: World, { item, to }: { item: Holding; to: Address }): void {
  removeUnits(world, item);
  addUnits(world, { ...item, owner: to });
}

/** What the owner has of this token now. */
export function unitsHeld(world: World, holding: Holding): bigint {
  return world.holdings[holding.contract].get(keyOf(holding))?.units ?? 0n;
}

/** Names a holding within its contract. */
export function keyOf({ tokenId, owner }: Pick<Holding, "tokenId" | "owner">): string {
  return `${tokenId}:${owner}`;
}
