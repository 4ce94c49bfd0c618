import { type Hex, numberToHex, zeroAddress } from "viem";
import { cryptopunksAbi } from "../abis/cryptopunks.ts";
import { define } from "./define.ts";
import type { LogPlace } from "./movement.ts";
import { closeOrder, replaceOrder } from "./record-order.ts";
import { noPrice, type Price, priceOf } from "./sale.ts";
import type { Context } from "./store.ts";

/** A CryptoPunks market has at most one offer and one bid for each punk. */

const FIRST_BIT = 2n ** 255n;

const hashOfOffer = (tokenId: bigint) => numberToHex(tokenId, { size: 32 });
const hashOfBid = (tokenId: bigint) => numberToHex(tokenId | FIRST_BIT, { size: 32 });

/** The offers and bids for punks. What sells them closes these too: see `closePunkOrders`. */
export const punkOrders = define(cryptopunksAbi, {
  async PunkOffered({ place, args: { punkIndex: tokenId, minValue: amount, toAddress } }, context) {
    // The log doesn't name the seller, but only the owner can offer a punk.
    const row = await context.store.find("token", { contract_address: place.contractAddress, token_id: tokenId });
    if (!row?.owner) return;
    const taker = toAddress === zeroAddress ? null : toAddress;
    const key = { order_hash: hashOfOffer(tokenId), marketplace: "cryptopunks" as const };
    await replaceOrder(context, place, key, {
      ...termsOf(place, tokenId),
      side: "listing",
      maker: row.owner,
      amount,
      taker,
    });
  },

  async PunkNoLongerForSale({ place, args }, context) {
    await closeOrder(context, place, { order_hash: hashOfOffer(args.punkIndex), isTaken: false });
  },

  async PunkBidEntered({ place, args: { punkIndex: tokenId, value: amount, fromAddress: maker } }, context) {
    const key = { order_hash: hashOfBid(tokenId), marketplace: "cryptopunks" as const };
    await replaceOrder(context, place, key, { ...termsOf(place, tokenId), side: "offer", maker, amount, taker: null });
  },

  async PunkBidWithdrawn({ place, args }, context) {
    await closeOrder(context, place, { order_hash: hashOfBid(args.punkIndex), isTaken: false });
  },
});

/** The price of an accepted bid, which the log of its acceptance doesn't have. It is the last bid that was entered. */
export async function findBid({ store }: Context, place: LogPlace, tokenId: bigint): Promise<Price> {
  const bid = await store.find("tradeOrder", {
    exchange_address: place.contractAddress,
    order_hash: hashOfBid(tokenId),
  });
  return bid?.start_amount ? priceOf(bid.start_amount, zeroAddress) : noPrice("unknown bid");
}

/**
 * Closes the orders that end when a punk has a new owner: its offer (the contract logs nothing of that where a bid was
 * accepted), and its bid where that was taken or is the new owner's own. Anybody else's bid stands.
 */
export async function closePunkOrders(
  context: Context,
  place: LogPlace,
  { tokenId, owner, taken }: { tokenId: bigint; owner: Hex; taken: "offer" | "bid" | undefined },
): Promise<void> {
  const { contractAddress: exchange_address } = place;
  await closeOrder(context, place, { order_hash: hashOfOffer(tokenId), isTaken: taken === "offer" });
  const bid = await context.store.find("tradeOrder", { exchange_address, order_hash: hashOfBid(tokenId) });
  if (bid && (taken === "bid" || bid.maker === owner))
    await closeOrder(context, place, { order_hash: hashOfBid(tokenId), isTaken: taken === "bid" });
}

/** What all orders for a punk share: they are paid in ether, and need no approval of an operator. */
const termsOf = ({ contractAddress: contract_address }: LogPlace, token_id: bigint) => ({
  contract_address,
  token_id,
  currency_address: zeroAddress,
  operator: null,
});
