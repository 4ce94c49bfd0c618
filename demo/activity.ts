import { parseEther } from "viem";
import {
  burnUnits,
  burnUnitsBatch,
  mintUnitsBatch,
  restock,
  transferUnits,
  transferUnitsBatch,
} from "./erc1155-activity.ts";
import {
  burnToken,
  foldCranes,
  giveCrane,
  glimpse,
  mintGlyph,
  mintLetter,
  mintMoths,
  reportWeather,
  transferToken,
  turnSeason,
} from "./erc721-activity.ts";
import { type Call, pickOther, type World } from "./world.ts";

/** Something that somebody does. It books what it does in `world`; undefined where nobody can do it now. */
type Activity = (world: World) => Call | undefined;

/** Each activity with its weight in the history and in the live feed. */
const ACTIVITIES: readonly { play: Activity; past: number; live: number }[] = [
  { play: giveCrane, past: 24, live: 4 },
  { play: transferToken, past: 20, live: 24 },
  { play: transferUnits, past: 9, live: 12 },
  { play: transferUnitsBatch, past: 6, live: 8 },
  { play: mintGlyph, past: 5, live: 10 },
  { play: mintLetter, past: 7, live: 6 },
  { play: mintMoths, past: 4, live: 5 },
  { play: foldCranes, past: 1, live: 2 },
  { play: mintUnitsBatch, past: 3, live: 5 },
  { play: burnToken, past: 3, live: 4 },
  { play: burnUnits, past: 3, live: 4 },
  { play: burnUnitsBatch, past: 1, live: 2 },
  { play: glimpse, past: 1, live: 1 },
  { play: reportWeather, past: 6, live: 7 },
  { play: restock, past: 2, live: 2 },
  { play: turnSeason, past: 0, live: 1 },
  { play: payDriftwood, past: 8, live: 3 },
];

/** Something that can happen now. */
export function playActivity(world: World, { feed }: { feed: "past" | "live" }): Call {
  const total = ACTIVITIES.reduce((sum, activity) => sum + activity[feed], 0);
  for (;;) {
    let ticket = world.random.below(total);
    const activity = ACTIVITIES.find((candidate) => (ticket -= candidate[feed]) < 0);
    const call = activity?.play(world);
    if (call) return call;
  }
}

/** An ERC-20 payment, which is no NFT activity. */
function payDriftwood(world: World): Call {
  const from = world.random.pick(world.collectors);
  const args = [pickOther(world, from), parseEther(String(1 + world.random.below(50)))];
  return { from, contract: "Driftwood", functionName: "transfer", args };
}
