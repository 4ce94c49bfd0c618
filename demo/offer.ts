import { ItemType } from "@opensea/seaport-js/lib/constants.js";
import type { Address } from "viem";
import type { NftContract } from "./artifacts.ts";
import { WRAPPED_ETHER_ADDRESS } from "./exchange.ts";
import {
  feesOf,
  fillOrder,
  LISTED_CONTRACTS,
  type Market,
  type Offer,
  ORDER_SECONDS,
  pickPrice,
  placeOrder,
} from "./market.ts";
import type { DemoTransaction } from "./miner.ts";
import { type Holding, moveUnits, pickHolding, pickOther, type World } from "./world.ts";

/** A bid in wrapped ether on somebody's token. */
export async function placeOffer(market: Market, now: bigint): Promise<DemoTransaction[] | undefined> {
  const wanted = pickHolding(market.world, LISTED_CONTRACTS);
  return wanted && bid(market, { contract: wanted.contract, tokenId: wanted.tokenId, owner: wanted.owner, now });
}

/** A bid on whichever token of a contract. */
export async function placeCollectionOffer(market: Market, now: bigint): Promise<DemoTransaction[] | undefined> {
  return bid(market, { contract: market.world.random.pick(LISTED_CONTRACTS), now });
}

/** An owner takes a bid. */
export async function acceptOffer(market: Market, now: bigint): Promise<DemoTransaction[] | undefined> {
  const { world } = market;
  const open = market.offers
    .filter(({ endTime }) => endTime > now)
    .map((offer) => ({ offer, item: findWanted(world, offer) }))
    .filter((pair): pair is { offer: Offer; item: Holding } => pair.item !== undefined);
  if (open.length === 0) return undefined;
  const { offer, item } = world.random.pick(open);
  const tokenId = offer.tokenId === undefined ? item.tokenId : undefined;
  market.offers = market.offers.filter((other) => other !== offer);
  const transactions = await fillOrder(market, { order: offer.order, taker: item.owner, tokenId });
  moveUnits(world, { item: { ...item, units: 1n }, to: offer.bidder });
  return transactions;
}

async function bid(
  market: Market,
  { contract, tokenId, owner, now }: { contract: NftContract; tokenId?: bigint; owner?: Address; now: bigint },
): Promise<DemoTransaction[]> {
  const { world, contracts } = market;
  const bidder = pickOther(world, owner ?? world.studio);
  const endTime = now + ORDER_SECONDS;
  const wanted = { itemType: ItemType.ERC721 as const, token: contracts[contract], recipient: bidder };
  const { order, transactions } = await placeOrder(market, {
    maker: bidder,
    input: {
      offer: [{ token: WRAPPED_ETHER_ADDRESS, amount: (pickPrice(world) / 2n).toString() }],
      consideration: [
        tokenId === undefined ? { ...wanted, criteria: "0" } : { ...wanted, identifier: tokenId.toString() },
      ],
      fees: feesOf(world),
      startTime: now.toString(),
      endTime: endTime.toString(),
    },
  });
  market.offers.push({ order, bidder, contract, tokenId, endTime });
  return transactions;
}

function findWanted(world: World, { contract, tokenId, bidder }: Offer): Holding | undefined {
  const holdings = [...world.holdings[contract].values()].filter(
    (item) => item.owner !== bidder && item.owner !== world.studio,
  );
  return tokenId === undefined ? holdings[0] : holdings.find((item) => item.tokenId === tokenId);
}
