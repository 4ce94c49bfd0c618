import { encodeFunctionData, parseAbi, parseEther } from "viem";
import { WRAPPED_ETHER_ADDRESS } from "./exchange.ts";
import {
  buy,
  buyBundle,
  buyDeclining,
  buySomeUnits,
  cancelListing,
  listBriefly,
  listBundle,
  listDeclining,
  listToken,
  listUnits,
  withdrawAll,
} from "./listing.ts";
import { type Market, openConduit } from "./market.ts";
import type { DemoTransaction } from "./miner.ts";
import { acceptOffer, placeCollectionOffer, placeOffer } from "./offer.ts";

/** Something that happens on the market, at a time. Undefined where it can't happen now. */
type MarketActivity = (market: Market, now: bigint) => Promise<DemoTransaction[] | undefined>;

/** The market's history, a block each: every transition of an order at least once. */
export const MARKET_HISTORY: readonly MarketActivity[] = [
  openMarket,
  listToken,
  listToken,
  listUnits,
  buySomeUnits,
  buy,
  placeOffer,
  listToken,
  listDeclining,
  acceptOffer,
  listBundle,
  buyBundle,
  listToken,
  buy,
  placeCollectionOffer,
  acceptOffer,
  listToken,
  cancelListing,
  listBriefly,
  listDeclining,
  placeOffer,
  listToken,
  buyDeclining,
  withdrawAll,
  listToken,
  listUnits,
  buySomeUnits,
  placeCollectionOffer,
  listToken,
  listDeclining,
  listUnits,
  placeOffer,
  listToken,
  buy,
  listBundle,
  listToken,
];

const LIVE_MARKET: readonly { play: MarketActivity; weight: number }[] = [
  { play: listToken, weight: 26 },
  { play: buy, weight: 24 },
  { play: placeOffer, weight: 14 },
  { play: acceptOffer, weight: 10 },
  { play: listUnits, weight: 8 },
  { play: buySomeUnits, weight: 8 },
  { play: listDeclining, weight: 5 },
  { play: cancelListing, weight: 5 },
  { play: placeCollectionOffer, weight: 3 },
  { play: listBundle, weight: 2 },
];

/** Something that can happen on the market now, or undefined where the one drawn can't. */
export async function playMarket(market: Market, now: bigint): Promise<DemoTransaction[] | undefined> {
  let ticket = market.world.random.below(LIVE_MARKET.reduce((sum, { weight }) => sum + weight, 0));
  const activity = LIVE_MARKET.find(({ weight }) => (ticket -= weight) < 0);
  return activity?.play(market, now);
}

/** The conduit, and wrapped ether for everybody. */
async function openMarket(market: Market): Promise<DemoTransaction[]> {
  const data = encodeFunctionData({ abi: parseAbi(["function deposit() payable"]), functionName: "deposit" });
  const value = parseEther("1000");
  const deposits = market.world.collectors.map((from) => ({ from, to: WRAPPED_ETHER_ADDRESS, data, value }));
  return [...openConduit(market), ...deposits];
}
