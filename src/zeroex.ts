import { type Hex, zeroAddress } from "viem";
import { zeroExAbi } from "../abis/zeroex.ts";
import { define } from "./define.ts";
import { placeOfSale, recordSales, type SalePlace } from "./sale-log.ts";
import { currencyAt, type Item, priceBeforeFees, type Sale } from "./sale.ts";

/** `direction` of an order whose maker sells. */
const SELL = 0;

/** Sales of 0x's fourth version. */
export const zeroEx = define(zeroExAbi, {
  async ERC721OrderFilled(log, context) {
    const { erc721Token: contractAddress, erc721TokenId: tokenId, erc20TokenAmount: amount } = log.args;
    const item = { contractAddress, tokenId, quantity: 1n };
    await recordSales(context, log, salesOfOrder(log.args, { item, amount }, placeOfSale(log)));
  },

  async ERC1155OrderFilled(log, context) {
    const { erc1155Token: contractAddress, erc1155TokenId: tokenId, erc20FillAmount: amount } = log.args;
    const item = { contractAddress, tokenId, quantity: log.args.erc1155FillAmount };
    await recordSales(context, log, salesOfOrder(log.args, { item, amount }, placeOfSale(log)));
  },
});

type Filled = { direction: number; maker: Hex; taker: Hex; erc20Token: Hex; matcher: Hex };

/**
 * What an order of 0x's fourth version sold for an amount, which is for all units and without the fees that the buyer
 * pays. Of two orders that were matched the offer counts: the matcher keeps what the listing asked less.
 */
function salesOfOrder(
  { direction, maker, taker, erc20Token, matcher }: Filled,
  { item, amount }: { item: Item; amount: bigint },
  { logIndex, exchangeAddress }: SalePlace,
): Sale[] {
  const isOffer = direction !== SELL;
  if (!isOffer && matcher !== zeroAddress) return [];
  const [seller, buyer] = isOffer ? [taker, maker] : [maker, taker];
  const price = priceBeforeFees(amount, currencyAt(erc20Token));
  const parties = { seller, buyer, broker: exchangeAddress, isOffer };
  return [{ ...price, ...item, ...parties, logIndex, batchIndex: 0, marketplace: "0x" }];
}
