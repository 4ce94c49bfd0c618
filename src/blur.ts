import { type Hex, numberToHex, zeroAddress } from "viem";
import { BLUR_POOL_ADDRESS } from "../abis/blur.ts";
import { firstOther, priceOf, type Sale } from "./sale.ts";

/** Blur, both versions. Their logs have one token each and a price for all of its units. */

type Place = { logIndex: number; exchange: Hex };

type OrderV1 = {
  trader: Hex;
  collection: Hex;
  tokenId: bigint;
  paymentToken: Hex;
  price: bigint;
  fees: readonly { recipient: Hex }[];
};

/** Version 1, OrdersMatched. A collection bid has no token id: the seller's order has it. */
export function saleOfMatch(
  { maker, sell, buy }: { maker: Hex; sell: OrderV1; buy: OrderV1 },
  { logIndex, exchange }: Place,
): Sale {
  const fees = sell.fees.map(({ recipient }) => recipient);
  return {
    ...priceOf(sell.price, sell.paymentToken),
    logIndex,
    batchIndex: 0,
    exchange: "blur",
    contractAddress: sell.collection,
    tokenId: sell.tokenId,
    // Its policy for ERC-1155 moves one unit, whatever the order's amount is.
    quantity: 1n,
    seller: sell.trader,
    buyer: buy.trader,
    broker: firstOther(fees, { except: [sell.trader], otherwise: exchange }),
    isOffer: maker === buy.trader,
  };
}

type Packed = { tokenIdListingIndexTrader: bigint; collectionPriceSide: bigint; feeRecipientRate?: bigint };

/** Version 2, an ERC-721 token with at most one fee. */
export function saleOfPacked(packed: Packed, place: Place): Sale {
  const { tokenIdListingIndexTrader, collectionPriceSide, feeRecipientRate = 0n } = packed;
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
      feeRecipients: [addressIn(feeRecipientRate)],
    },
    place,
  );
}

type Execution = {
  transfer: { trader: Hex; id: bigint; amount: bigint; collection: Hex; assetType: number };
  price: bigint;
  orderType: number;
  feeRecipients: readonly Hex[];
};

const ERC721 = 0;
const BID = 1;
const MAX_UINT88 = 2n ** 88n - 1n;

/** Version 2. The trader is the order's maker; who took it is in the transfer alone. */
export function saleOfExecution(
  { transfer, price, orderType, feeRecipients }: Execution,
  { logIndex, exchange }: Place,
): Sale {
  const { trader, id, amount, collection, assetType } = transfer;
  const isBid = orderType === BID;
  return {
    // Asks are paid in ether, whatever Blur takes it out of; bids out of what bidders have in its pool.
    ...priceOf(price, isBid ? BLUR_POOL_ADDRESS : zeroAddress),
    logIndex,
    batchIndex: 0,
    exchange: "blur",
    contractAddress: collection,
    tokenId: id,
    quantity: assetType === ERC721 ? 1n : amount,
    seller: isBid ? null : trader,
    buyer: isBid ? trader : null,
    broker: firstOther(feeRecipients, { except: [trader], otherwise: exchange }),
    isOffer: isBid,
  };
}

const addressIn = (word: bigint): Hex => numberToHex(word & (2n ** 160n - 1n), { size: 20 });
