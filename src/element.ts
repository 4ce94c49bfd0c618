import type { Hex } from "viem";
import { elementAbi } from "../abis/element.ts";
import { define } from "./define.ts";
import { placeOfSale, recordSales, type SalePlace } from "./sale-log.ts";
import { currencyAt, firstOther, type Item, priceOf, type Sale } from "./sale.ts";

/**
 * Element. Two matched orders write two logs, first the listing's, then the offer's. They are one trade at the offer's
 * price: where the listing asked less, the matcher keeps the difference.
 */
export const element = define(elementAbi, {
  async ERC721SellOrderFilled(log, context) {
    await recordSales(context, log, [saleOf721(log.args, { isOffer: false }, placeOfSale(log))]);
  },

  async ERC721BuyOrderFilled(log, context) {
    const sale = saleOf721(log.args, { isOffer: true }, placeOfSale(log));
    await context.recordStep(log.place, { kind: "offer", sale });
  },

  async ERC1155SellOrderFilled(log, context) {
    await recordSales(context, log, [saleOf1155(log.args, { isOffer: false }, placeOfSale(log))]);
  },

  async ERC1155BuyOrderFilled(log, context) {
    const sale = saleOf1155(log.args, { isOffer: true }, placeOfSale(log));
    await context.recordStep(log.place, { kind: "offer", sale });
  },
});

type Filled = { maker: Hex; taker: Hex; erc20Token: Hex; fees: readonly { recipient: Hex; amount: bigint }[] };
type Filled721 = Filled & { erc20TokenAmount: bigint; erc721Token: Hex; erc721TokenId: bigint };
type Filled1155 = Filled & {
  erc20FillAmount: bigint;
  erc1155Token: Hex;
  erc1155TokenId: bigint;
  erc1155FillAmount: bigint;
};

/** The sale of a filled order for an ERC-721 token. */
function saleOf721(filled: Filled721, { isOffer }: { isOffer: boolean }, place: SalePlace): Sale {
  const { erc721Token: contractAddress, erc721TokenId: tokenId, erc20TokenAmount: amount } = filled;
  return saleOf(filled, { item: { contractAddress, tokenId, quantity: 1n }, amount, isOffer }, place);
}

/** The sale of an order for units of an ERC-1155 token that was filled, wholly or in part. */
function saleOf1155(filled: Filled1155, { isOffer }: { isOffer: boolean }, place: SalePlace): Sale {
  const { erc1155Token: contractAddress, erc1155TokenId: tokenId, erc1155FillAmount: quantity } = filled;
  return saleOf(
    filled,
    { item: { contractAddress, tokenId, quantity }, amount: filled.erc20FillAmount, isOffer },
    place,
  );
}

/** `amount` is for all units, fees included. */
function saleOf(
  { maker, taker, erc20Token, fees }: Filled,
  { item, amount, isOffer }: { item: Item; amount: bigint; isOffer: boolean },
  { logIndex, exchangeAddress }: SalePlace,
): Sale {
  const [seller, buyer] = isOffer ? [taker, maker] : [maker, taker];
  // The platform is named also where it takes nothing.
  const recipients = fees.filter((fee) => fee.amount > 0n).map(({ recipient }) => recipient);
  return {
    ...priceOf(amount, currencyAt(erc20Token)),
    ...item,
    logIndex,
    batchIndex: 0,
    marketplace: "element",
    seller,
    buyer,
    broker: firstOther(recipients, { except: [seller], otherwise: exchangeAddress }),
    isOffer,
  };
}
