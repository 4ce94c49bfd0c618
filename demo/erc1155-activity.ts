import type { Address } from "viem";
import { ERC1155_CONTRACTS, type NftContract } from "./artifacts.ts";
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

/** Ids 0 to 7: the contract has eight kinds of goods. */
export const HARBOR_IDS = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n];
/** Small ids, and two as shared storefronts make them: creator's address, number, supply. */
export const MEADOW_IDS = [
  ...Array.from({ length: 10 }, (_, i) => BigInt(i + 1)),
  storefrontId(1n, 100n),
  storefrontId(2n, 25n),
];

/** Mints several ids at once, drawn by chance unless `ids` says which. */
export function mintUnitsBatch(
  world: World,
  { contract, to, ids }: { contract?: NftContract; to?: Address; ids?: bigint[] } = {},
): Call {
  const kind = contract ?? world.random.pick(ERC1155_CONTRACTS);
  const owner = to ?? world.random.pick(world.collectors);
  const all = kind === "HarborProvisions" ? HARBOR_IDS : MEADOW_IDS;
  // Drawn one by one, so that an id can stand in a batch twice.
  const tokenIds = ids ?? Array.from({ length: 2 + world.random.below(4) }, () => world.random.pick(all));
  const amounts = tokenIds.map(() => BigInt(1 + world.random.below(40)));
  for (const [i, tokenId] of tokenIds.entries())
    addUnits(world, { contract: kind, tokenId, owner, units: amounts[i] ?? 0n });
  return { from: owner, contract: kind, functionName: "mintBatch", args: [owner, tokenIds, amounts] };
}

/** Some units of one id: TransferSingle. */
export function transferUnits(world: World): Call | undefined {
  const holding = pickHolding(world, ERC1155_CONTRACTS);
  if (!holding) return undefined;
  const { contract, tokenId, owner } = holding;
  const units = pickUnits(world, holding.units);
  const to = pickOther(world, owner);
  moveUnits(world, { item: { contract, tokenId, owner, units }, to });
  return { from: owner, contract, functionName: "safeTransferFrom", args: [owner, to, tokenId, units, "0x"] };
}

/** Several ids at once: TransferBatch. */
export function transferUnitsBatch(world: World): Call | undefined {
  const some = pickSome(world);
  if (!some) return undefined;
  const { contract, owner, parts } = some;
  const to = pickOther(world, owner);
  for (const item of parts) moveUnits(world, { item, to });
  const args = [owner, to, parts.map((part) => part.tokenId), parts.map((part) => part.units), "0x"];
  return { from: owner, contract, functionName: "safeBatchTransferFrom", args };
}

/** A transfer of zero units, which the standard allows. */
export function sendNothing(world: World): Call {
  const from = world.random.pick(world.collectors);
  const args = [from, pickOther(world, from), 3n, 0n, "0x"];
  return { from, contract: "HarborProvisions", functionName: "safeTransferFrom", args };
}

/** Burns some units of one id. */
export function burnUnits(world: World): Call | undefined {
  const holding = pickHolding(world, ERC1155_CONTRACTS);
  if (!holding) return undefined;
  const { contract, tokenId, owner } = holding;
  const units = pickUnits(world, holding.units);
  removeUnits(world, { contract, tokenId, owner, units });
  return { from: owner, contract, functionName: "burn", args: [owner, tokenId, units] };
}

/** Burns several ids at once. */
export function burnUnitsBatch(world: World): Call | undefined {
  const some = pickSome(world);
  if (!some) return undefined;
  const { contract, owner, parts } = some;
  for (const { tokenId, units } of parts) removeUnits(world, { contract, tokenId, owner, units });
  const args = [owner, parts.map((part) => part.tokenId), parts.map((part) => part.units)];
  return { from: owner, contract, functionName: "burnBatch", args };
}

/** ERC-1155 URI: the document of this kind changes. */
export function restock(world: World): Call {
  const to = world.random.pick(world.collectors);
  const tokenId = world.random.pick(HARBOR_IDS);
  const units = BigInt(5 + world.random.below(20));
  addUnits(world, { contract: "HarborProvisions", tokenId, owner: to, units });
  return { from: to, contract: "HarborProvisions", functionName: "restock", args: [to, tokenId, units] };
}

/** Some holdings of somebody who has any, and how many units of each. */
function pickSome(world: World): { contract: NftContract; owner: Address; parts: Holding[] } | undefined {
  const first = pickHolding(world, ERC1155_CONTRACTS);
  if (!first) return undefined;
  const { contract, owner } = first;
  const parts = listHoldings(world, { contract, owner })
    .slice(0, 2 + world.random.below(4))
    .map((holding) => ({ ...holding, units: pickUnits(world, holding.units) }));
  return { contract, owner, parts };
}

/** All of them in one case of four, else at most ten, so that holders stay holders for a while. */
function pickUnits(world: World, held: bigint): bigint {
  if (world.random.chance(25)) return held;
  const most = held < 10n ? Number(held) : 10;
  return BigInt(1 + world.random.below(most));
}

function storefrontId(number: bigint, supply: bigint): bigint {
  return (0x90f79bf6eb2c4f870365e785982e1f101e93b906n << 96n) | (number << 40n) | supply;
}
