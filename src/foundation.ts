import { type Hex, zeroAddress } from "viem";
import { priceOf, type Sale } from "./sale.ts";

/** What the buyer paid, in the parts that it went to. */
type Revenue = { totalFees: bigint; creatorRev: bigint; sellerRev: bigint };

type Sold = Pick<Sale, "contractAddress" | "tokenId" | "seller" | "buyer" | "isOffer">;

/** A sale on Foundation's market, at a fixed price, by offer or by auction: one ERC-721 token for ether. */
export function saleOf(
  { totalFees, creatorRev, sellerRev }: Revenue,
  { contractAddress, tokenId, seller, buyer, isOffer }: Sold,
  { logIndex, exchange }: { logIndex: number; exchange: Hex },
): Sale {
  return {
    ...priceOf(totalFees + creatorRev + sellerRev, zeroAddress),
    logIndex,
    batchIndex: 0,
    exchange: "foundation",
    contractAddress,
    tokenId,
    quantity: 1n,
    seller,
    buyer,
    broker: exchange,
    isOffer,
  };
}
