import { blurV1Abi, blurV2Abi } from "../abis/blur.ts";
import { foundationAbi } from "../abis/foundation.ts";
import { looksrareV1Abi, looksrareV2Abi } from "../abis/looksrare.ts";
import { seaportAbi } from "../abis/seaport.ts";
import { findCurrency, wyvernAbi } from "../abis/wyvern.ts";
import { x2y2Abi } from "../abis/x2y2.ts";
import { zoraAbi } from "../abis/zora.ts";
import { saleOfExecution, saleOfMatch, saleOfPacked } from "./blur.ts";
import { define, type Log } from "./define.ts";
import { saleOf } from "./foundation.ts";
import { saleOfV1, salesOfV2 } from "./looksrare.ts";
import { settleOrder } from "./record-order.ts";
import type { Sale } from "./sale.ts";
import { countUnits } from "./seaport.ts";
import type { Context } from "./store.ts";
import { readMatch } from "./wyvern.ts";
import { AUCTION_BID, AUCTION_COMPLETED, salesOfInventory } from "./x2y2.ts";
import { closeAsk } from "./zora-ask.ts";
import { saleOfAsk, saleOfOffer } from "./zora.ts";

/** The exchanges' logs of sales: each becomes a step in the trail of its transaction. */

const where = ({ place }: Log) => ({ logIndex: place.logIndex, exchange: place.contractAddress });

async function recordSales(context: Context, { place }: Log, sales: Sale[]): Promise<void> {
  await context.recordStep(place, { kind: "sales", sales });
}

export const seaportSales = define(seaportAbi, {
  async OrderFulfilled({ place, args }, context) {
    const { orderHash, offerer, recipient, offer, consideration } = args;
    const fill = { logIndex: place.logIndex, orderHash, offerer, recipient, offer, consideration };
    await context.recordStep(place, { kind: "fill", fill });
    const order = { order_hash: orderHash, marketplace: "seaport" as const };
    await settleOrder(context, place, order, { units: countUnits(fill) });
  },

  async OrdersMatched({ place, args: { orderHashes } }, context) {
    await context.recordStep(place, { kind: "match", orderHashes });
  },
});

export const wyvern = define(
  wyvernAbi,
  {
    async OrdersMatched(log, context) {
      const match = readMatch(log.args, { ...where(log), currency: log.note });
      await context.recordStep(log.place, { kind: "window", match });
    },
  },
  { noteOf: findCurrency },
);

export const blurV1 = define(blurV1Abi, {
  async OrdersMatched(log, context) {
    await recordSales(context, log, [saleOfMatch(log.args, where(log))]);
  },
});

export const blurV2 = define(blurV2Abi, {
  async Execution721Packed(log, context) {
    await recordSales(context, log, [saleOfPacked(log.args, where(log))]);
  },

  async Execution721TakerFeePacked(log, context) {
    const packed = { ...log.args, feeRecipientRate: log.args.takerFeeRecipientRate };
    await recordSales(context, log, [saleOfPacked(packed, where(log))]);
  },

  async Execution721MakerFeePacked(log, context) {
    const packed = { ...log.args, feeRecipientRate: log.args.makerFeeRecipientRate };
    await recordSales(context, log, [saleOfPacked(packed, where(log))]);
  },

  async Execution(log, context) {
    const { makerFee, fees } = log.args;
    const feeRecipients = [makerFee.recipient, fees.takerFee.recipient, fees.protocolFee.recipient];
    await recordSales(context, log, [saleOfExecution({ ...log.args, feeRecipients }, where(log))]);
  },
});

export const looksrareV1 = define(looksrareV1Abi, {
  async TakerBid(log, context) {
    await recordSales(context, log, [saleOfV1(log.args, { isListing: true }, where(log))]);
  },

  async TakerAsk(log, context) {
    await recordSales(context, log, [saleOfV1(log.args, { isListing: false }, where(log))]);
  },
});

export const looksrareV2 = define(looksrareV2Abi, {
  async TakerBid(log, context) {
    const { feeRecipients, bidRecipient: buyer } = log.args;
    await recordSales(
      context,
      log,
      salesOfV2(log.args, { seller: feeRecipients[0], buyer, isOffer: false }, where(log)),
    );
  },

  async TakerAsk(log, context) {
    const { askUser: seller, bidUser: buyer } = log.args;
    await recordSales(context, log, salesOfV2(log.args, { seller, buyer, isOffer: true }, where(log)));
  },
});

export const x2y2 = define(x2y2Abi, {
  async EvInventory(log, context) {
    const { itemHash: item_hash, taker: bidder, detail } = log.args;
    if (detail.op === AUCTION_BID) {
      const bid = { bidder, amount: detail.price };
      await context.store.upsert("x2y2Bid", { item_hash, ...bid }, bid);
      return;
    }
    const bid = detail.op === AUCTION_COMPLETED ? await context.store.find("x2y2Bid", { item_hash }) : null;
    await recordSales(context, log, salesOfInventory(log.args, { bid }, where(log)));
  },
});

export const zora = define(zoraAbi, {
  async AskFilled(log, context) {
    await closeAsk(context, log.place, log.args, { isTaken: true });
    await recordSales(context, log, [saleOfAsk(log.args, where(log))]);
  },

  async OfferFilled(log, context) {
    await recordSales(context, log, [saleOfOffer(log.args, where(log))]);
  },
});

export const foundation = define(foundationAbi, {
  async BuyPriceAccepted(log, context) {
    const { nftContract: contractAddress, ...args } = log.args;
    await recordSales(context, log, [saleOf(args, { contractAddress, ...args, isOffer: false }, where(log))]);
  },

  async OfferAccepted(log, context) {
    const { nftContract: contractAddress, ...args } = log.args;
    await recordSales(context, log, [saleOf(args, { contractAddress, ...args, isOffer: true }, where(log))]);
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
    // An auction from before the first block indexed: nothing says what it was about.
    if (!auction) return;
    const { contract_address: contractAddress, token_id: tokenId } = auction;
    const sale = saleOf(log.args, { contractAddress, tokenId, seller, buyer, isOffer: false }, where(log));
    // Whoever won may put it on sale again, or take an offer for it, without ever having it.
    await recordSales(context, log, [{ ...sale, isInEscrow: true }]);
  },
});
