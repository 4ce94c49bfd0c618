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
import { MARKET_HISTORY } from "./market-activity.ts";
import type { Market } from "./market.ts";
import type { DemoTransaction } from "./miner.ts";
import type { Call, World } from "./world.ts";

/** Blocks of everyday life after the collections opened. */
const EVERYDAY_BLOCKS = 80;
const MOST_CALLS_A_BLOCK = 6;
/** The market opens after so many of them, and has every second block from then on. */
const BLOCKS_BEFORE_MARKET = 8;

/** What goes into one block. Asked for when the block's turn has come: it depends on those before. */
type Block = (now: bigint) => DemoTransaction[] | Promise<DemoTransaction[]>;

/** The whole history after the deployments, block by block. The same for the same `world`. */
export function listHistory(
  market: Market,
  { toTransaction }: { toTransaction: (call: Call) => DemoTransaction },
): Block[] {
  const { world } = market;
  const blocks: Block[] = openCollections(world).map((calls) => () => calls.map(toTransaction));
  const trades = [...MARKET_HISTORY];
  for (let i = 0; i < EVERYDAY_BLOCKS; i += 1) {
    blocks.push(() =>
      Array.from({ length: 1 + world.random.below(MOST_CALLS_A_BLOCK) }, () =>
        toTransaction(playActivity(world, { feed: "past" })),
      ),
    );
    const trade = i >= BLOCKS_BEFORE_MARKET && i % 2 === 0 ? trades.shift() : undefined;
    if (trade) {
      blocks.push(async (now) => {
        const transactions = await trade(market, now);
        if (!transactions) throw new Error(`${trade.name} can't happen in the history. Expected its order before it.`);
        return transactions;
      });
    }
  }
  return blocks;
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
