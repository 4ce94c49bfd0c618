import { type Hex, zeroAddress } from "viem";
import { superRareAbi, superRareBazaarAbi } from "../abis/superrare.ts";
import { define } from "./define.ts";
import { placeOfSale, recordSales, type SalePlace } from "./sale-log.ts";
import { priceBeforeFees, type Sale } from "./sale.ts";

/** SuperRare: its first two markets, and the Bazaar that replaced them. At all of them the buyer pays a fee on top. */

/** Sales at the first two markets, paid in ether. */
export const superRare = define(superRareAbi, {
  async Sold(log, context) {
    const { _buyer: buyer, _seller: seller } = log.args;
    const terms = { seller, buyer, currency: zeroAddress, isOffer: false };
    await recordSales(context, log, [saleOf(log.args, terms, placeOfSale(log))]);
  },

  async AcceptBid(log, context) {
    const { _bidder: buyer, _seller: seller } = log.args;
    const terms = { seller, buyer, currency: zeroAddress, isOffer: true };
    await recordSales(context, log, [saleOf(log.args, terms, placeOfSale(log))]);
  },
});

/** Sales at the Bazaar, auctions included, in any currency. */
export const superRareBazaar = define(superRareBazaarAbi, {
  async Sold(log, context) {
    const { _buyer: buyer, _seller: seller, _currencyAddress: currency } = log.args;
    await recordSales(context, log, [saleOf(log.args, { seller, buyer, currency, isOffer: false }, placeOfSale(log))]);
  },

  async AcceptOffer(log, context) {
    const { _bidder: buyer, _seller: seller, _currencyAddress: currency } = log.args;
    await recordSales(context, log, [saleOf(log.args, { seller, buyer, currency, isOffer: true }, placeOfSale(log))]);
  },

  async AuctionSettled(log, context) {
    const { _contractAddress: _originContract, _bidder: buyer, _seller: seller, _currencyAddress: currency } = log.args;
    const sold = { ...log.args, _originContract };
    await recordSales(context, log, [saleOf(sold, { seller, buyer, currency, isOffer: false }, placeOfSale(log))]);
  },
});

type Sold = { _originContract: Hex; _tokenId: bigint; _amount: bigint };
type Terms = { seller: Hex; buyer: Hex; currency: Hex; isOffer: boolean };

/** The sale of one ERC-721 token. An auction without bids is settled for an amount of 0. */
function saleOf(
  { _originContract: contractAddress, _tokenId: tokenId, _amount: amount }: Sold,
  { seller, buyer, currency, isOffer }: Terms,
  { logIndex, exchangeAddress }: SalePlace,
): Sale {
  return {
    ...priceBeforeFees(amount, currency),
    logIndex,
    batchIndex: 0,
    marketplace: "superrare",
    contractAddress,
    tokenId,
    quantity: 1n,
    seller,
    buyer,
    broker: exchangeAddress,
    isOffer,
  };
}
