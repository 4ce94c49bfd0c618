import { z } from "@hono/zod-openapi";
import type { Sql } from "postgres";
import { toBytes } from "../../offchain/bytea.ts";
import { integer, list, text } from "../http/field.ts";
import { ZERO_LITERAL } from "../token/holding.ts";
import { CURRENT_OWNER } from "../token/token.ts";
import { isNative } from "./native-currency.ts";
import { leftNow } from "./order-price.ts";
import { matchesAny, matchesToken, standingOffers } from "./order-rule.ts";
import { OrderbookToken } from "./orderbook.ts";
import { MAX_ROWS } from "./placed-order.ts";
import { type Condition, firstPlaced, type Moment, momentParameters } from "./trade-order.ts";

const { contract_address, token_id, current_owner } = OrderbookToken.shape;

const Offer = z.strictObject({
  offer_maker: text("Address of who bids."),
  offer_amount: text(
    "What is paid now for all of `offer_quantity`, in the smallest unit of the currency, decimal. The fees that the offer " +
      "names come out of it.",
  ),
  offer_quantity: text("Units that are still wanted, decimal."),
  offer_timestamp: integer("Unix seconds of when the offer was placed."),
  currency_address: text("Extension: contract of the currency; the zero address is the chain's own."),
  order_hash: text(
    "Extension: hash of the offer, the exchange's own where it has any: Seaport. Of one that was sent here, " +
      "`GET /orderbook/orders/{order_hash}` has what it takes to accept it.",
  ),
  exchange: text("Extension: where the offer can be accepted: `seaport` or `cryptopunks`."),
});
/** One offer on a token. */
export type Offer = z.infer<typeof Offer>;

/** Offers on one token. */
export const OrderbookOffers = z
  .strictObject({
    contract_address,
    token_id,
    current_owner,
    current_price: text(
      "What a buyer pays now for one unit, in the smallest unit of the best listing's currency; empty where it isn't listed.",
    ),
    offers: list(
      Offer,
      `Highest for one unit first, those in the chain's own currency or its wrapped form before others; at most ${MAX_ROWS}.`,
    ),
  })
  .openapi("OrderbookOffers", { description: "A token with the offers on it and on any of its contract." });

const offersOf = (matches: Condition) => `
  select
    trade_order.maker,
    trade_order.quantity - trade_order.filled as quantity,
    ${leftNow("trade_order")} as amount,
    trade_order.placed_timestamp,
    trade_order.exchange_address,
    trade_order.order_hash,
    trade_order.currency_address,
    trade_order.marketplace
  ${standingOffers("held", matches)}
`;

/** $1: contract, $4: token id. A token that nobody has gets no offers, because nobody could accept one. */
const OFFERS = `
  with held as (
    select
      token.contract_address,
      token.token_id,
      token.standard
    from token
    where
      token.contract_address = $1
      and token.token_id = $4
      and ${CURRENT_OWNER} <> ${ZERO_LITERAL}
  )
  select
    '0x' || encode(offer.maker, 'hex') as offer_maker,
    offer.amount as offer_amount,
    offer.quantity as offer_quantity,
    ${firstPlaced("offer")} as offer_timestamp,
    '0x' || encode(offer.currency_address, 'hex') as currency_address,
    '0x' || encode(offer.order_hash, 'hex') as order_hash,
    offer.marketplace as exchange
  from held
  cross join lateral (
    ${offersOf(matchesToken("held"))}
    union all
    ${offersOf(matchesAny)}
  ) as offer
  order by
    not ${isNative("offer")},
    case when not ${isNative("offer")} then offer.currency_address end,
    div(offer.amount, offer.quantity) desc,
    offer.placed_timestamp,
    offer.order_hash,
    offer.exchange_address
  limit ${MAX_ROWS}
`;

/**
 * Offers that stand now. Offers in the chain's own currency or its wrapped form come first, then the others by
 * currency, because amounts of different currencies can't be compared. What pays most for one unit comes first within
 * each.
 */
export async function listOffers(
  sql: Sql,
  { contractAddress, tokenId, ...moment }: Moment & { contractAddress: string; tokenId: string },
): Promise<Offer[]> {
  const parameters = [toBytes(contractAddress), ...momentParameters(moment), tokenId];
  return sql.unsafe<Offer[]>(OFFERS, parameters, { prepare: true });
}
