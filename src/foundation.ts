import { zeroAddress } from "viem";
import { foundationAbi } from "../abis/foundation.ts";
import { define } from "./define.ts";
import { placeOfSale, recordSales, type SalePlace } from "./sale-log.ts";
import { priceOf, type Sale } from "./sale.ts";

/** Sales on Foundation's market. The token of an auction is that of the log that began it. */
export const foundation = define(foundationAbi, {
  async BuyPriceAccepted(log, context) {
    const { nftContract: contractAddress, ...args } = log.args;
    await recordSales(context, log, [saleOf(args, { contractAddress, ...args, isOffer: false }, placeOfSale(log))]);
  },

  async OfferAccepted(log, context) {
    const { nftContract: contractAddress, ...args } = log.args;
    await recordSales(context, log, [saleOf(args, { contractAddress, ...args, isOffer: true }, placeOfSale(log))]);
  },

  async PrivateSaleFinalized(log, context) {
    const { nftContract: contractAddress, ...args } = log.args;
    await recordSales(context, log, [saleOf(args, { contractAddress, ...args, isOffer: false }, placeOfSale(log))]);
  },

  async ReserveAuctionCreated({ place, args }, { store }) {
    const { nftContract: contract_address, tokenId: token_id, auctionId: auction_id } = args;
    const auctioned = { contract_address, token_id };
    const key = { market_address: place.contractAddress, auction_id };
    await store.upsert("foundationAuction", { ...key, ...auctioned }, auctioned);
  },

  async ReserveAuctionFinalized(log, context) {
    const { auctionId: auction_id, seller, bidder: buyer } = log.args;
    const key = { market_address: log.place.contractAddress, auction_id };
    const auction = await context.store.find("foundationAuction", key);
    // The auction began before the first block indexed, and no other log names its token.
    if (!auction) return;
    const { contract_address: contractAddress, token_id: tokenId } = auction;
    const contract = await context.store.find("contract", { contract_address: contractAddress });
    const sale = saleOf(log.args, { contractAddress, tokenId, seller, buyer, isOffer: false }, placeOfSale(log));
    // The winner may list the token again, or accept an offer for it, while Foundation still holds it. Without a transfer
    // nothing else tells whether the contract is one of those that are indexed.
    await recordSales(context, log, [contract ? { ...sale, isInEscrow: true } : sale]);
  },
});

/** The parts of what the buyer paid. */
type Revenue = { totalFees: bigint; creatorRev: bigint; sellerRev: bigint };

type Sold = Pick<Sale, "contractAddress" | "tokenId" | "seller" | "buyer" | "isOffer">;

/** A sale on Foundation's market, at a fixed price, in private, by offer or by auction: one ERC-721 token for ether. */
function saleOf(
  { totalFees, creatorRev, sellerRev }: Revenue,
  { contractAddress, tokenId, seller, buyer, isOffer }: Sold,
  { logIndex, exchangeAddress }: SalePlace,
): Sale {
  return {
    ...priceOf(totalFees + creatorRev + sellerRev, zeroAddress),
    logIndex,
    batchIndex: 0,
    marketplace: "foundation",
    contractAddress,
    tokenId,
    quantity: 1n,
    seller,
    buyer,
    broker: exchangeAddress,
    isOffer,
  };
}
