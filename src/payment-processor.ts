import { type Hex, zeroAddress } from "viem";
import { paymentProcessorV1Abi, paymentProcessorV2Abi } from "../abis/payment-processor.ts";
import { define } from "./define.ts";
import { placeOfSale, recordSales, type SalePlace } from "./sale-log.ts";
import { firstOther, priceBeforeFees, priceOf, type Sale } from "./sale.ts";

/** Payment Processor, where Magic Eden trades. A price is for all units of its token. */

/** The first version's sales: single ones, bundles and sweeps. */
export const paymentProcessorV1 = define(paymentProcessorV1Abi, {
  async BuySingleListing(log, context) {
    // Offers are never in the chain's own currency. With another currency, the log doesn't tell offer and listing
    // apart.
    const isOffer = log.args.paymentCoin === zeroAddress ? false : null;
    const { seller, tokenId, amount: quantity, salePrice: price } = log.args;
    const fill = { seller, tokenId, quantity, price };
    await recordSales(context, log, salesOfV1(log.args, { fills: [fill], isOffer }, placeOfSale(log)));
  },

  async BuyBundledListingERC721(log, context) {
    const { seller, tokenIds } = log.args;
    const fills = listFills({ ...log.args, sellers: tokenIds.map(() => seller) });
    await recordSales(context, log, salesOfV1(log.args, { fills, isOffer: false }, placeOfSale(log)));
  },

  async BuyBundledListingERC1155(log, context) {
    const { seller, tokenIds } = log.args;
    const fills = listFills({ ...log.args, sellers: tokenIds.map(() => seller) });
    await recordSales(context, log, salesOfV1(log.args, { fills, isOffer: false }, placeOfSale(log)));
  },

  async SweepCollectionERC721(log, context) {
    const fills = listFills(log.args);
    await recordSales(context, log, salesOfV1(log.args, { fills, isOffer: false }, placeOfSale(log)));
  },

  async SweepCollectionERC1155(log, context) {
    const fills = listFills(log.args);
    await recordSales(context, log, salesOfV1(log.args, { fills, isOffer: false }, placeOfSale(log)));
  },
});

/** The sales of versions 2 and 3, one token each. */
export const paymentProcessorV2 = define(paymentProcessorV2Abi, {
  async BuyListingERC721(log, context) {
    const sold = { ...log.args, amount: 1n };
    await recordSales(context, log, [saleOfV2(sold, { isOffer: false }, placeOfSale(log))]);
  },

  async BuyListingERC1155(log, context) {
    await recordSales(context, log, [saleOfV2(log.args, { isOffer: false }, placeOfSale(log))]);
  },

  async AcceptOfferERC721(log, context) {
    const sold = { ...log.args, amount: 1n };
    await recordSales(context, log, [saleOfV2(sold, { isOffer: true }, placeOfSale(log))]);
  },

  async AcceptOfferERC1155(log, context) {
    await recordSales(context, log, [saleOfV2(log.args, { isOffer: true }, placeOfSale(log))]);
  },
});

/** One token that a log sells. Undefined: it couldn't be transferred, and wasn't paid for. */
type Fill = { seller: Hex; tokenId: bigint; quantity: bigint; price: bigint } | undefined;

type Arrays = {
  unsuccessfulFills: readonly boolean[];
  sellers: readonly Hex[];
  tokenIds: readonly bigint[];
  /** Only where the tokens are ERC-1155. */
  amounts?: readonly bigint[];
  salePrices: readonly bigint[];
};

/** The tokens that a log sells at once. Each has its own price, in a bundle too: the seller signed them. */
function listFills({ unsuccessfulFills, sellers, tokenIds, amounts, salePrices }: Arrays): Fill[] {
  return tokenIds.map((tokenId, index) => {
    const [seller, price, quantity] = [sellers[index], salePrices[index], amounts ? amounts[index] : 1n];
    const isFilled = unsuccessfulFills[index] === false && seller && price !== undefined && quantity !== undefined;
    return isFilled ? { seller, tokenId, quantity, price } : undefined;
  });
}

type ArgsV1 = { marketplace: Hex; tokenAddress: Hex; paymentCoin: Hex; buyer: Hex };

/** Version 1. The fees come out of the price. The log names the marketplace that takes the first of them. */
function salesOfV1(
  { marketplace, tokenAddress, paymentCoin, buyer }: ArgsV1,
  { fills, isOffer }: { fills: readonly Fill[]; isOffer: boolean | null },
  { logIndex, exchangeAddress }: SalePlace,
): Sale[] {
  return fills.flatMap((fill, batchIndex): Sale[] => {
    if (!fill) return [];
    const { seller, tokenId, quantity, price } = fill;
    return [
      {
        ...priceOf(price, paymentCoin),
        logIndex,
        batchIndex,
        marketplace: "payment-processor",
        contractAddress: tokenAddress,
        tokenId,
        quantity,
        seller,
        buyer,
        broker: firstOther([marketplace], { except: [seller], otherwise: exchangeAddress }),
        isOffer,
      },
    ];
  });
}

type ArgsV2 = {
  seller: Hex;
  tokenAddress: Hex;
  beneficiary: Hex;
  paymentCoin: Hex;
  tokenId: bigint;
  amount: bigint;
  salePrice: bigint;
};

/**
 * Versions 2 and 3. The taker of an order may pay a fee on top of the price. For an offer that is the seller, so its
 * price is whole.
 */
function saleOfV2(
  { seller, tokenAddress, beneficiary, paymentCoin, tokenId, amount, salePrice }: ArgsV2,
  { isOffer }: { isOffer: boolean },
  { logIndex, exchangeAddress }: SalePlace,
): Sale {
  return {
    ...(isOffer ? priceOf(salePrice, paymentCoin) : priceBeforeFees(salePrice, paymentCoin)),
    logIndex,
    batchIndex: 0,
    marketplace: "payment-processor",
    contractAddress: tokenAddress,
    tokenId,
    quantity: amount,
    seller,
    buyer: beneficiary,
    // Only the call names the marketplace.
    broker: exchangeAddress,
    isOffer,
  };
}
