import { ItemType } from "@opensea/seaport-js/lib/constants.js";
import { type Address, parseEther } from "viem";
import { ERC1155_CONTRACTS, isErc1155, type NftContract } from "./artifacts.ts";
import { WRAPPED_ETHER_ADDRESS } from "./exchange.ts";
import {
  feesOf,
  fillOrder,
  type Listing,
  LISTED_CONTRACTS,
  type Market,
  ORDER_SECONDS,
  pickPrice,
  placeOrder,
  toTransaction,
} from "./market.ts";
import type { DemoTransaction } from "./miner.ts";
import { type Holding, keyOf, moveUnits, pickOther, unitsHeld } from "./world.ts";

/** A live market stops listing here and sells first. */
const MOST_LISTINGS = 60;
const BRIEFLY_SECONDS = 3n * 3600n;
const DECLINE_SECONDS = 7n * 86_400n;

/** One token at a fixed price, now and then in wrapped ether. */
export async function listToken(market: Market, now: bigint): Promise<DemoTransaction[] | undefined> {
  const item = pickUnlisted(market, LISTED_CONTRACTS);
  if (!item) return undefined;
  const isWrapped = market.world.random.chance(15);
  return list(market, {
    items: [item],
    price: pickPrice(market.world),
    isWrapped,
    now,
    endTime: now + ORDER_SECONDS,
  });
}

/** Over in a few hours, so that the market has listings that expired. */
export async function listBriefly(market: Market, now: bigint): Promise<DemoTransaction[] | undefined> {
  const item = pickUnlisted(market, LISTED_CONTRACTS);
  return item && list(market, { items: [item], price: pickPrice(market.world), now, endTime: now + BRIEFLY_SECONDS });
}

/** A price that falls to a quarter within a week. */
export async function listDeclining(market: Market, now: bigint): Promise<DemoTransaction[] | undefined> {
  const item = pickUnlisted(market, LISTED_CONTRACTS);
  if (!item) return undefined;
  const price = pickPrice(market.world);
  return list(market, { items: [item], price, endPrice: price / 4n, now, endTime: now + DECLINE_SECONDS });
}

/** Several units that can be bought in parts. */
export async function listUnits(market: Market, now: bigint): Promise<DemoTransaction[] | undefined> {
  const item = pickUnlisted(market, ERC1155_CONTRACTS);
  if (!item) return undefined;
  const units = item.units < 12n ? item.units : 12n;
  const price = units * parseEther("0.01") * BigInt(1 + market.world.random.below(8));
  return list(market, { items: [{ ...item, units }], price, now, endTime: now + ORDER_SECONDS });
}

/** Two tokens of one owner, for one price. */
export async function listBundle(market: Market, now: bigint): Promise<DemoTransaction[] | undefined> {
  const first = pickUnlisted(market, LISTED_CONTRACTS);
  const second = first && pickUnlisted(market, LISTED_CONTRACTS, { owner: first.owner, except: first });
  if (!second) return undefined;
  return list(market, {
    items: [first, second],
    price: pickPrice(market.world),
    now,
    endTime: now + ORDER_SECONDS,
  });
}

/** Somebody buys a single token. */
export async function buy(market: Market, now: bigint): Promise<DemoTransaction[] | undefined> {
  return buyOne(market, now, ({ items }) => items.length === 1 && !items.some(({ contract }) => isErc1155(contract)));
}

/** Somebody buys a bundle. */
export async function buyBundle(market: Market, now: bigint): Promise<DemoTransaction[] | undefined> {
  return buyOne(market, now, ({ items }) => items.length > 1);
}

/** Somebody buys at a price that has fallen by now. */
export async function buyDeclining(market: Market, now: bigint): Promise<DemoTransaction[] | undefined> {
  return buyOne(market, now, ({ order }) =>
    order.parameters.consideration.some(({ startAmount, endAmount }) => startAmount !== endAmount),
  );
}

/** A part of what is for sale, or all of it. */
export async function buySomeUnits(market: Market, now: bigint): Promise<DemoTransaction[] | undefined> {
  const { world } = market;
  const listing = pickListing(market, now, ({ items }) => items.some(({ contract }) => isErc1155(contract)));
  const item = listing?.items[0];
  if (!listing || !item) return undefined;
  const units = BigInt(1 + world.random.below(Number(item.units)));
  const buyer = pickOther(world, listing.seller);
  market.listings = market.listings.filter((other) => other !== listing);
  const transactions = await fillOrder(market, { order: listing.order, taker: buyer, units });
  moveUnits(world, { item: { ...item, units }, to: buyer });
  if (units < item.units) market.listings.push({ ...listing, items: [{ ...item, units: item.units - units }] });
  return transactions;
}

/** One order is cancelled. */
export async function cancelListing(market: Market, now: bigint): Promise<DemoTransaction[] | undefined> {
  const listing = pickListing(market, now, () => true);
  if (!listing) return undefined;
  market.listings = market.listings.filter((other) => other !== listing);
  return [await toTransaction(listing.seller, market.seaport.cancelOrders([listing.order.parameters], listing.seller))];
}

/** A seller raises the counter: all that they ever put up is gone at once. */
export async function withdrawAll(market: Market, now: bigint): Promise<DemoTransaction[] | undefined> {
  const seller = pickListing(market, now, () => true)?.seller;
  if (!seller) return undefined;
  market.listings = market.listings.filter((listing) => listing.seller !== seller);
  market.offers = market.offers.filter((offer) => offer.bidder !== seller);
  return [await toTransaction(seller, market.seaport.bulkCancelOrders(seller))];
}

async function list(
  market: Market,
  {
    items,
    price,
    endPrice = price,
    isWrapped = false,
    now,
    endTime,
  }: { items: Holding[]; price: bigint; endPrice?: bigint; isWrapped?: boolean; now: bigint; endTime: bigint },
): Promise<DemoTransaction[] | undefined> {
  const { world, contracts, listings, conduit } = market;
  const [first] = items;
  if (!first || listings.length >= MOST_LISTINGS) return undefined;
  const { order, transactions } = await placeOrder(market, {
    maker: first.owner,
    input: {
      offer: items.map(({ contract, tokenId, units }) => {
        const token = contracts[contract];
        const identifier = tokenId.toString();
        return isErc1155(contract)
          ? { itemType: ItemType.ERC1155, token, identifier, amount: units.toString() }
          : { itemType: ItemType.ERC721, token, identifier };
      }),
      consideration: [
        {
          token: isWrapped ? WRAPPED_ETHER_ADDRESS : undefined,
          amount: price.toString(),
          endAmount: endPrice.toString(),
          recipient: first.owner,
        },
      ],
      fees: feesOf(world),
      startTime: now.toString(),
      endTime: endTime.toString(),
      allowPartialFills: isErc1155(first.contract),
      ...(world.random.chance(50) && { conduitKey: conduit.key }),
    },
  });
  listings.push({ order, seller: first.owner, items, endTime });
  return transactions;
}

async function buyOne(
  market: Market,
  now: bigint,
  isWanted: (listing: Listing) => boolean,
): Promise<DemoTransaction[] | undefined> {
  const listing = pickListing(market, now, isWanted);
  if (!listing) return undefined;
  const buyer = pickOther(market.world, listing.seller);
  // Before it is filled: one that can't be, because somebody has used the seller's account, isn't tried again.
  market.listings = market.listings.filter((other) => other !== listing);
  const transactions = await fillOrder(market, { order: listing.order, taker: buyer });
  for (const item of listing.items) moveUnits(market.world, { item, to: buyer });
  return transactions;
}

/** One that can be filled now. Those that ended are dropped on the way. */
function pickListing(market: Market, now: bigint, isWanted: (listing: Listing) => boolean): Listing | undefined {
  market.listings = market.listings.filter(({ endTime }) => endTime > now);
  const open = market.listings.filter(
    (listing) => listing.items.every((item) => unitsHeld(market.world, item) >= item.units) && isWanted(listing),
  );
  return open.length === 0 ? undefined : market.world.random.pick(open);
}

function pickUnlisted(
  { world, listings }: Market,
  contracts: readonly NftContract[],
  { owner, except }: { owner?: Address; except?: Holding } = {},
): Holding | undefined {
  const listed = new Set(listings.flatMap(({ items }) => items.map(nameOf)));
  const free = contracts
    .flatMap((contract) => [...world.holdings[contract].values()])
    .filter((item) => item.owner !== world.studio && !listed.has(nameOf(item)))
    .filter((item) => (owner === undefined || item.owner === owner) && (!except || nameOf(item) !== nameOf(except)));
  return free.length === 0 ? undefined : world.random.pick(free);
}

function nameOf(item: Holding): string {
  return `${item.contract} ${keyOf(item)}`;
}
