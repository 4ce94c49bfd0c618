import { type Context, ponder } from "ponder:registry";
import { foundationAuction, x2y2Bid } from "ponder:schema";
import type { Hex } from "viem";
import { saleOfExecution, saleOfMatch, saleOfPacked } from "./blur.ts";
import { saleOf } from "./foundation.ts";
import { saleOfV1, salesOfV2 } from "./looksrare.ts";
import { placeOf } from "./record.ts";
import { settleOrder } from "./record-order.ts";
import { recordStep } from "./record-sale.ts";
import type { Sale } from "./sale.ts";
import { countUnits } from "./seaport.ts";
import { readMatch } from "./wyvern.ts";
import { AUCTION_BID, AUCTION_COMPLETED, salesOfInventory } from "./x2y2.ts";
import { saleOfAsk, saleOfOffer } from "./zora.ts";

/** The exchanges' logs of sales: each becomes a step in the trail of its transaction. */

type ExchangeEvent = Parameters<typeof placeOf>[0] & { transaction: { from: Hex } };

const where = ({ log }: ExchangeEvent) => ({ logIndex: log.logIndex, exchange: log.address });

async function recordSales(context: Context, event: ExchangeEvent, sales: Sale[]): Promise<void> {
  await recordStep(context, placeOf(event), { kind: "sales", sales, sender: event.transaction.from });
}

ponder.on("Seaport:OrderFulfilled", async ({ event, context }) => {
  const { orderHash, offerer, recipient, offer, consideration } = event.args;
  const fill = { logIndex: event.log.logIndex, orderHash, offerer, recipient, offer, consideration };
  await recordStep(context, placeOf(event), { kind: "fill", fill, sender: event.transaction.from });
  await settleOrder(
    context,
    placeOf(event),
    { order_hash: orderHash, marketplace: "seaport" },
    { units: countUnits(fill) },
  );
});

ponder.on("Seaport:OrdersMatched", async ({ event, context }) => {
  const { orderHashes } = event.args;
  await recordStep(context, placeOf(event), { kind: "match", orderHashes, sender: event.transaction.from });
});

ponder.on("Wyvern:OrdersMatched", async ({ event, context }) => {
  const match = readMatch(event.args, { ...where(event), transaction: event.transaction });
  await recordStep(context, placeOf(event), { kind: "window", match, sender: event.transaction.from });
});

ponder.on("BlurV1:OrdersMatched", async ({ event, context }) => {
  await recordSales(context, event, [saleOfMatch(event.args, where(event))]);
});

ponder.on("BlurV2:Execution721Packed", async ({ event, context }) => {
  await recordSales(context, event, [saleOfPacked(event.args, where(event))]);
});

ponder.on("BlurV2:Execution721TakerFeePacked", async ({ event, context }) => {
  const packed = { ...event.args, feeRecipientRate: event.args.takerFeeRecipientRate };
  await recordSales(context, event, [saleOfPacked(packed, where(event))]);
});

ponder.on("BlurV2:Execution721MakerFeePacked", async ({ event, context }) => {
  const packed = { ...event.args, feeRecipientRate: event.args.makerFeeRecipientRate };
  await recordSales(context, event, [saleOfPacked(packed, where(event))]);
});

ponder.on("BlurV2:Execution", async ({ event, context }) => {
  const { makerFee, fees } = event.args;
  const feeRecipients = [makerFee.recipient, fees.takerFee.recipient, fees.protocolFee.recipient];
  await recordSales(context, event, [saleOfExecution({ ...event.args, feeRecipients }, where(event))]);
});

ponder.on("LooksRareV1:TakerBid", async ({ event, context }) => {
  await recordSales(context, event, [saleOfV1(event.args, { isListing: true }, where(event))]);
});

ponder.on("LooksRareV1:TakerAsk", async ({ event, context }) => {
  await recordSales(context, event, [saleOfV1(event.args, { isListing: false }, where(event))]);
});

ponder.on("LooksRareV2:TakerBid", async ({ event, context }) => {
  const { feeRecipients, bidRecipient: buyer } = event.args;
  await recordSales(context, event, salesOfV2(event.args, { seller: feeRecipients[0], buyer }, where(event)));
});

ponder.on("LooksRareV2:TakerAsk", async ({ event, context }) => {
  const { askUser: seller, bidUser: buyer } = event.args;
  await recordSales(context, event, salesOfV2(event.args, { seller, buyer }, where(event)));
});

ponder.on("X2Y2:EvInventory", async ({ event, context }) => {
  const { itemHash: item_hash, taker: bidder, detail } = event.args;
  if (detail.op === AUCTION_BID) {
    const bid = { bidder, amount: detail.price };
    await context.db
      .insert(x2y2Bid)
      .values({ item_hash, ...bid })
      .onConflictDoUpdate(bid);
    return;
  }
  const bid = detail.op === AUCTION_COMPLETED ? await context.db.find(x2y2Bid, { item_hash }) : null;
  await recordSales(context, event, salesOfInventory(event.args, { bid }, where(event)));
});

ponder.on("Zora:AskFilled", async ({ event, context }) => {
  await recordSales(context, event, [saleOfAsk(event.args, where(event))]);
});

ponder.on("Zora:OfferFilled", async ({ event, context }) => {
  await recordSales(context, event, [saleOfOffer(event.args, where(event))]);
});

ponder.on("Foundation:BuyPriceAccepted", async ({ event, context }) => {
  const { nftContract: contractAddress, ...args } = event.args;
  await recordSales(context, event, [saleOf(args, { contractAddress, ...args }, where(event))]);
});

ponder.on("Foundation:OfferAccepted", async ({ event, context }) => {
  const { nftContract: contractAddress, ...args } = event.args;
  await recordSales(context, event, [saleOf(args, { contractAddress, ...args }, where(event))]);
});

ponder.on("Foundation:ReserveAuctionCreated", async ({ event, context }) => {
  const { nftContract: contract_address, tokenId: token_id, auctionId: auction_id } = event.args;
  await context.db
    .insert(foundationAuction)
    .values({ market_address: event.log.address, auction_id, contract_address, token_id })
    .onConflictDoUpdate({ contract_address, token_id });
});

ponder.on("Foundation:ReserveAuctionFinalized", async ({ event, context }) => {
  const { auctionId: auction_id, seller, bidder: buyer } = event.args;
  const auction = await context.db.find(foundationAuction, { market_address: event.log.address, auction_id });
  // An auction from before the first block indexed: nothing says what it was about.
  if (!auction) return;
  const { contract_address: contractAddress, token_id: tokenId } = auction;
  await recordSales(context, event, [saleOf(event.args, { contractAddress, tokenId, seller, buyer }, where(event))]);
});
