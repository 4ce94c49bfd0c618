import { NO_END } from "../../abis/seaport-order.ts";
import { factOf, HAS_OWN_OFFER, UPDATED_TIMESTAMP } from "./order-listing.ts";
import { tokenIdHex } from "../sql/item.ts";
import { CHAIN, firstPlaced } from "./trade-order.ts";

/** False for a token that nobody has: nobody could accept an offer for it. */
const HAS_OFFER = `case when token.held > 0 then ${factOf("has_offer")} or ${HAS_OWN_OFFER} else false end`;

/** The beginning of every item of a contract, made once for the contract `one`. */
export const ITEM_HEAD = `
  '{"token_chain_id":"0x' || to_hex(${CHAIN})
  || '","contract_address":"0x' || encode(one.contract_address, 'hex')
  || '","token_id":"'
`;

/** A token of `listed` as the JSON of `OrderbookToken`. Nothing in it needs escaping. */
export const ORDERBOOK_ITEM = `
  ${factOf("head")} || ${tokenIdHex("token.token_id")}
  || '","current_owner":"' || coalesce('0x' || encode(token.current_owner, 'hex'), '')
  || '","listed_timestamp":"' || case when token.is_listed then (${firstPlaced("token")})::text else '' end
  || '","updated_timestamp":"' || ${UPDATED_TIMESTAMP}
  || case
    when token.is_listed then
      '","current_price":"' || token.current_price
      || '","quantity":"' || token.quantity
      || '","start_amount":"' || token.start_amount
      || '","end_amount":"' || coalesce(token.end_amount::text, '')
      || '","start_date":"' || token.start_time
      || '","end_date":"' || case when token.end_time = ${NO_END} then '' else token.end_time::text end
      || '","broker_id":"0x' || encode(token.broker, 'hex')
      || '","is_listed":"true'
    else
      '","current_price":"","quantity":"' || token.held
      || '","start_amount":"","end_amount":"","start_date":"","end_date":"","broker_id":"","is_listed":"false'
  end
  || case when (${HAS_OFFER}) then '","has_offer":"true' else '","has_offer":"false' end
  || case
    when token.is_listed then
      '","currency_address":"0x' || encode(token.currency_address, 'hex')
      || '","order_hash":"0x' || encode(token.order_hash, 'hex')
      || '","exchange":"' || token.marketplace
    else '","currency_address":"","order_hash":"","exchange":"'
  end
  || '"}'
`;

const hex = (column: string) => `'0x' || encode(token.${column}, 'hex')`;
const TERMS = ["start_amount", "end_amount", "current_price", "start_time", "end_time", "quantity", "marketplace"];

/** Columns of an `OrderbookRow`. */
export const ORDERBOOK_ROW = `
  ${hex("contract_address")} as contract_address,
  token.token_id,
  token.standard,
  coalesce(${hex("current_owner")}, '') as owner,
  token.held,
  ${UPDATED_TIMESTAMP} as updated_timestamp,
  ${["exchange_address", "order_hash", "maker", "broker", "currency_address"].map((name) => `case when token.is_listed then ${hex(name)} end as ${name}`).join(", ")},
  case when token.is_listed then ${firstPlaced("token")} end as placed_timestamp,
  ${TERMS.map((name) => `case when token.is_listed then token.${name} end as ${name}`).join(", ")}
`;
