import { zeroAddress } from "viem";
import { zoraAuctionHouseAbi, zoraReserveAuctionAbi } from "../abis/zora.ts";
import { define } from "./define.ts";
import { placeOfSale, recordSales } from "./sale-log.ts";
import { noPrice, priceOf } from "./sale.ts";
import { saleOf } from "./zora.ts";

/**
 * Zora's auctions of ERC-721 tokens. Zora's contracts hold the tokens. The logs name the seller and the winner, whoever
 * settles the auction.
 */

/** Auctions of ReserveAuctionCoreEth, paid in ether. */
export const zoraReserveAuction = define(zoraReserveAuctionAbi, {
  async AuctionEnded(log, context) {
    const { seller, highestBidder: buyer, highestBid } = log.args.auction;
    const price = priceOf(highestBid, zeroAddress);
    await recordSales(context, log, [saleOf(log.args, { seller, buyer, price, isOffer: false }, placeOfSale(log))]);
  },
});

/** Auctions of the AuctionHouse, in any currency. */
export const zoraAuctionHouse = define(zoraAuctionHouseAbi, {
  async AuctionBid({ place, args }, { store }) {
    const key = { market_address: place.contractAddress, auction_id: args.auctionId };
    await store.upsert("zoraBid", { ...key, amount: args.value }, { amount: args.value });
  },

  async AuctionEnded(log, context) {
    const { auctionId: auction_id, tokenOwner: seller, winner: buyer, auctionCurrency } = log.args;
    // The amounts in the log lack the creator's share where the token is one of Zora's own: the last bid is the price.
    const bid = await context.store.find("zoraBid", { market_address: log.place.contractAddress, auction_id });
    const price = bid ? priceOf(bid.amount, auctionCurrency) : noPrice("unknown bid");
    await recordSales(context, log, [saleOf(log.args, { seller, buyer, price, isOffer: false }, placeOfSale(log))]);
  },
});
