import { ofNewestEvent } from "../token/event.ts";
import { floorOf } from "../orderbook/floor.ts";
import { numberJson } from "../sql/item.ts";
import { isRead } from "./marketplace-body.ts";
import { factOf, UPDATED_TIMESTAMP } from "../orderbook/order-listing.ts";
import { CURRENT_OWNER } from "../token/token.ts";
import { isNative, wholeOf } from "../orderbook/native-currency.ts";
import { totalNow } from "../orderbook/order-price.ts";
import { matchesAny, matchesToken, standingOffers } from "../orderbook/order-rule.ts";
import { type Condition, firstPlaced } from "../orderbook/trade-order.ts";

/*
 * SQL that writes the JSON of tokens on the marketplace, from rows of `listed` joined with their metadata.
 */

const ifListed = (value: string) => `case when token.is_listed then ${value} end`;

/** Price in whole units of the chain's currency; null if the token isn't on sale, or only in another currency. */
const PRICE = `case when token.is_listed and token.is_native then ${wholeOf("token.current_price")} end`;

/**
 * The text of a normalized document between `key` and the key `end`. The keys have a fixed order, and no string in the
 * document can contain the searched text, because quotes in strings are escaped.
 */
const cut = (key: string, end: string) => `
  nullif(split_part(split_part(token_metadata.normalized, ',"${end}":', 1), ',"${key}":', 2), '')
`;

const IS_READ = isRead("octet_length(token_metadata.normalized)", { place: "token.place" });
const read = (key: string, end: string, otherwise: string) =>
  `coalesce(case when ${IS_READ} then ${cut(key, end)} end, '${otherwise}')`;

/**
 * The end of both kinds of items. The cut from the description to the attributes includes the name, which stands
 * between them. It is cut from the stored text, because parsing the JSON took Postgres as long as everything else
 * together.
 */
const END = `
  ',"amount":"' || coalesce((${ifListed("token.current_price")})::text, '')
  || '","currency_address":"' || coalesce('0x' || encode(${ifListed("token.currency_address")}, 'hex'), '')
  || '","metadata":{"image":' || ${read("image", "image_data", '""')}
  || ',"description":' || ${read("description", "attributes", '"","name":""')} || '}}'
`;

/** Facts that are looked up once for the collection of a page. */
export const COLLECTION_FACTS = `${wholeOf(floorOf("one.contract_address"))} as floor`;

/** Price of one unit in the last sale. */
const LAST_PRICE = ofNewestEvent(
  wholeOf("div(token_event.price, token_event.quantity)"),
  `
    token_event.event_type = 'sale'
    and token_event.price > 0
    and token_event.quantity > 0
    and coalesce(token_event.price_note, 'fees on top') = 'fees on top'
    and ${isNative("token_event")}
  `,
);

/** By how many percent the price is above the floor, rounded to two decimals, halves up. */
const FLOOR_DIFFERENCE = `floor((${PRICE} / nullif(${factOf("floor")}, 0) - 1) * 10000 + 0.5) / 100`;

/** A `CollectionToken`. */
export const COLLECTION_TOKEN_ITEM = `
  '{"contract":"0x' || encode(token.contract_address, 'hex')
  || '","token_id":"' || token.token_id
  || '","last_price":' || ${numberJson(LAST_PRICE)}
  || ',"floor_difference":' || ${numberJson(`(${FLOOR_DIFFERENCE})`)}
  || ',"listed_at":' || ${numberJson(`(${ifListed(firstPlaced("token"))})`)}
  || ',"owner":"' || coalesce('0x' || encode(${CURRENT_OWNER}, 'hex'), '')
  || '","minted_at":' || ${numberJson("token.mint_timestamp")}
  || ',"updated_at":' || ${UPDATED_TIMESTAMP}
  || ',"price":' || ${numberJson(`(${PRICE})`)}
  || (${END})
`;

/** The highest offer for one unit, in the chain's own currency, from anybody but `account`. */
const highestOffer = (account: string, token: string, matches: Condition) => `
  (
    select max(div(${totalNow("trade_order")}, trade_order.quantity))
    ${standingOffers(token, matches)}
    and trade_order.maker <> ${account}
    and ${isNative("trade_order")}
  )
`;

/** Facts that are looked up once for each collection of a page of `account`. */
export const accountFacts = (account: string) => `
  ${wholeOf(floorOf("one.contract_address"))} as floor,
  ${highestOffer(account, "one", matchesAny)} as offered
`;

const RECEIVED_AT = `
  case
    when token.owner is null then (
      select token_event.timestamp
      from token_event
      where
        token_event.block_number = token.received_block_number
        and token_event.log_index = token.received_log_index
        and token_event.batch_index = token.received_batch_index
    )
    else ${ofNewestEvent("token_event.timestamp", "token_event.event_type <> 'sale'")}
  end
`;

const BEST_OFFER = `greatest(${factOf("offered")}, ${highestOffer("$1", "token", matchesToken("token"))})`;

/** A `PortfolioToken` of the account $1. */
export const ACCOUNT_TOKEN_ITEM = `
  '{"contract":"0x' || encode(token.contract_address, 'hex')
  || '","token_id":"' || token.token_id
  || '","list_price":' || ${numberJson(`(${PRICE})`)}
  || ',"best_offer":' || ${numberJson(wholeOf(BEST_OFFER))}
  || ',"floor":' || ${numberJson(factOf("floor"))}
  || ',"received_at":' || ${numberJson(`(${RECEIVED_AT})`)}
  || ',"balance":"' || coalesce(token.balance, 1)
  || '"' || (${END})
`;
