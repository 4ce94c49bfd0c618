import { maxUint256 } from "viem";
import { playActivity } from "./activity.ts";
import { HARBOR_IDS, MEADOW_IDS, mintUnitsBatch, sendNothing } from "./erc1155-activity.ts";
import {
  glimpse,
  mintGlyph,
  mintLetter,
  mintMoths,
  openStation,
  reportWeather,
  sendToSelf,
} from "./erc721-activity.ts";
import type { Call, World } from "./world.ts";

/** Blocks of everyday life after the collections opened. */
const EVERYDAY_BLOCKS = 80;
const MOST_CALLS_A_BLOCK = 6;

/** The whole history after the deployments, the calls of each block. The same for the same `world`. */
export function listHistory(world: World): Call[][] {
  const opening = openCollections(world);
  const everyday = Array.from({ length: EVERYDAY_BLOCKS }, () =>
    Array.from({ length: 1 + world.random.below(MOST_CALLS_A_BLOCK) }, () => playActivity(world, { feed: "past" })),
  );
  return [...opening, ...everyday];
}

/** The calls that fill the collections when they open, in blocks. */
function openCollections(world: World): Call[][] {
  const { collectors } = world;
  return [
    collectors.slice(0, 7).flatMap((to) => [mintGlyph(world, to), mintGlyph(world, to), mintGlyph(world, to)]),
    collectors.slice(7).flatMap((to) => [mintGlyph(world, to), mintGlyph(world, to), mintGlyph(world, to)]),
    collectors.slice(0, 6).map((to) => mintUnitsBatch(world, { contract: "HarborProvisions", to, ids: HARBOR_IDS })),
    collectors.slice(0, 5).map((to) => mintMoths(world, to, 8)),
    collectors.slice(5).map((to) => mintMoths(world, to, 5)),
    collectors.slice(3, 10).map((to) => mintUnitsBatch(world, { contract: "MeadowSeeds", to, ids: MEADOW_IDS })),
    collectors.slice(0, 12).map((to) => openStation(world, to)),
    collectors.slice(0, 12).map(() => reportWeather(world)),
    collectors.map(() => mintLetter(world)),
    // The edges of what a contract may do: the last id there is, itself as receiver, nothing at all.
    [mintLetter(world, maxUint256), glimpse(world)],
    [sendToSelf(world), sendNothing(world)],
  ].map((calls) => calls.filter((call) => call !== undefined));
}
