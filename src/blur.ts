import { type Hex, numberToHex, zeroAddress } from "viem";
import { BLUR_POOL_ADDRESS, blurV1Abi, blurV2Abi } from "../abis/blur.ts";
import { define } from "./define.ts";
import { placeOfSale, recordSales, type SalePlace } from "./sale-log.ts";
import { firstOther, priceBeforeFees, priceOf, type Sale } from "./sale.ts";

/** Both versions of Blur. A log has one token, and a price for all of its units. */

/** The first version's sales. */
export const blurV1 = define(blurV1Abi, {
  async OrdersMatched(log, context) {
    await recordSales(context, log, [saleOfMatch(log.args, placeOfSale(log))]);
  },
});

/** The second version's sales. */
export const blurV2 = define(blurV2Abi, {
  async Execution721Packed(log, context) {
    await recordSales(context, log, [saleOfPacked(log.args, placeOfSale(log))]);
  },

  async Execution721TakerFeePacked(log, context) {
    await recordSales(context, log, [saleOfPacked(log.args, placeOfSale(log))]);
  },

  async Execution721MakerFeePacked(log, context) {
    await recordSales(context, log, [saleOfPacked(log.args, placeOfSale(log))]);
  },

  async Execution(log, context) {
    await recordSales(context, log, [saleOfExecution(log.args, placeOfSale(log))]);
  },
});

type OrderV1 = {
  trader: Hex;
  collection: Hex;
  tokenId: bigint;
  paymentToken: Hex;
  price: bigint;
  fees: readonly { recipient: Hex; rate: number }[];
};

/**
 * Version 1, OrdersMatched. A bid for any token of a collection has no token id, so it is taken from the seller's
 * order. The seller's fees come out of the price. The buyer's fees are on top of it, except for the fee to the exchange
 * in its first form.
 */
function saleOfMatch(
  { maker, sell, buy }: { maker: Hex; sell: OrderV1; buy: OrderV1 },
  { logIndex, exchangeAddress }: SalePlace,
): Sale {
  const fees = sell.fees.filter(isTaken).map(({ recipient }) => recipient);
  return {
    ...(buy.fees.some(isTaken) ? priceBeforeFees : priceOf)(sell.price, sell.paymentToken),
    logIndex,
    batchIndex: 0,
    marketplace: "blur",
    contractAddress: sell.collection,
    tokenId: sell.tokenId,
    // Blur's policy for ERC-1155 moves one unit, whatever amount the order has.
    quantity: 1n,
    seller: sell.trader,
    buyer: buy.trader,
    broker: firstOther(fees, { except: [sell.trader], otherwise: exchangeAddress }),
    isOffer: maker === buy.trader,
  };
}

type Packed = {
  tokenIdListingIndexTrader: bigint;
  collectionPriceSide: bigint;
  takerFeeRecipientRate?: bigint;
  makerFeeRecipientRate?: bigint;
};

/** Version 2, an ERC-721 token with at most one fee. */
function saleOfPacked(packed: Packed, place: SalePlace): Sale {
  const { tokenIdListingIndexTrader, collectionPriceSide } = packed;
  return saleOfExecution(
    {
      transfer: {
        trader: addressIn(tokenIdListingIndexTrader),
        id: tokenIdListingIndexTrader >> 168n,
        amount: 1n,
        collection: addressIn(collectionPriceSide),
        assetType: ERC721,
      },
      price: (collectionPriceSide >> 160n) & MAX_UINT88,
      orderType: Number(collectionPriceSide >> 248n),
      makerFee: feeIn(packed.makerFeeRecipientRate),
      fees: { takerFee: feeIn(packed.takerFeeRecipientRate), protocolFee: feeIn() },
    },
    place,
  );
}

type Execution = {
  transfer: { trader: Hex; id: bigint; amount: bigint; collection: Hex; assetType: number };
  price: bigint;
  orderType: number;
  makerFee: Fee;
  fees: { takerFee: Fee; protocolFee: Fee };
};
type Fee = { recipient: Hex; rate: number };

const ERC721 = 0;
const BID = 1;
const MAX_UINT88 = 2n ** 88n - 1n;

/**
 * Version 2. The log names the order's maker as trader. Only the transfer tells who took the order. The buyer's own fee
 * is on top of the price. The log rounds its rate down where many bids are taken at once.
 */
function saleOfExecution(
  { transfer, price, orderType, makerFee, fees: { takerFee, protocolFee } }: Execution,
  { logIndex, exchangeAddress }: SalePlace,
): Sale {
  const { trader, id, amount, collection, assetType } = transfer;
  const isBid = orderType === BID;
  return {
    // Listings are paid in ether, whatever the buyer pays Blur with; bids out of the bidder's deposit in Blur's pool.
    ...(isTaken(isBid ? makerFee : takerFee) ? priceBeforeFees : priceOf)(
      price,
      isBid ? BLUR_POOL_ADDRESS : zeroAddress,
    ),
    logIndex,
    batchIndex: 0,
    marketplace: "blur",
    contractAddress: collection,
    tokenId: id,
    quantity: assetType === ERC721 ? 1n : amount,
    seller: isBid ? null : trader,
    buyer: isBid ? trader : null,
    broker: firstOther(
      [makerFee, takerFee, protocolFee].filter(isTaken).map(({ recipient }) => recipient),
      { except: [trader], otherwise: exchangeAddress },
    ),
    isOffer: isBid,
  };
}

const isTaken = ({ rate }: { rate: number }) => rate > 0;

/** A fee that is packed in a word. */
const feeIn = (word = 0n): Fee => ({ recipient: addressIn(word), rate: Number(word >> 160n) });

const addressIn = (word: bigint): Hex => numberToHex(word & (2n ** 160n - 1n), { size: 20 });
