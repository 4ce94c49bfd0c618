import { WITH_CONTRACT_TYPE } from "./contract.ts";
import type { RowStream } from "../sql/database.ts";
import { type Event, type EventKey, eventParameters, EVENTS, type EventsOptions } from "./event.ts";
import { hexJson, tokenIdHex } from "../sql/item.ts";
import { itemsInPieces, loadItems } from "../sql/item-page.ts";
import type { Page } from "../http/page.ts";

/** SQL of an event as JSON. None of its values needs escaping. */
const EVENT = `
  '{"contract_address":"0x' || encode($3, 'hex')
  || '","contract_type":"' || (select contract_type from contract_type)
  || '","event_id":"0x' || encode(token_event.transaction_hash, 'hex')
  || '-' || token_event.log_index || '-' || token_event.batch_index
  || '","event_type":"' || token_event.event_type
  || '","from_address":"0x' || encode(token_event.from_address, 'hex')
  || '","to_address":"0x' || encode(token_event.to_address, 'hex')
  || '","timestamp":' || token_event.timestamp
  || ',"token_id":"' || token_event.token_id
  || '","token_id_hex":"' || ${tokenIdHex("token_event.token_id")}
  || '","transaction_hash":"0x' || encode(token_event.transaction_hash, 'hex')
  || '","quantity":"' || token_event.quantity
  || '","block_number":' || token_event.block_number
  || ',"log_index":' || token_event.log_index
  || case
    when token_event.event_type = 'sale' then
      ',"price":' || coalesce('"' || token_event.price || '"', 'null')
      || ',"currency_address":' || ${hexJson("token_event.currency_address")}
      || ',"price_note":' || coalesce('"' || token_event.price_note || '"', 'null')
      || ',"marketplace":"' || token_event.marketplace
      || '","broker":"0x' || encode(token_event.broker, 'hex') || '"}'
    else '}'
  end
`;

const PLACE = ["block_number", "log_index", "batch_index"];

/** Parameters: the number of rows, `eventParameters`, items of a piece. */
const inPieces = (events: (columns: string) => string, pieceItems: string) => `
  ${WITH_CONTRACT_TYPE}
  ${itemsInPieces({
    columns: ["item", ...PLACE],
    page: events([`${EVENT} as item`, ...PLACE.map((column) => `token_event.${column}`)].join(", ")),
    order: PLACE.map((column) => `${column} desc`).join(", "),
    pieceItems,
  })}
`;
const CONTRACT_EVENTS = inPieces(EVENTS.ofContract, "$7");
const TOKEN_EVENTS = inPieces(EVENTS.ofToken, "$8");

/** The events of a contract, or of one of its tokens, newest first. None where the contract is hidden. */
export async function listEventItems(stream: RowStream, options: EventsOptions): Promise<Page> {
  const text = options.tokenId === undefined ? CONTRACT_EVENTS : TOKEN_EVENTS;
  return loadItems(stream, text, { limit: options.limit, parameters: eventParameters(options) });
}

/** The sort key of an event in an answer. */
export const eventKey = ({ event_id, block_number, log_index }: Event): EventKey => [
  block_number,
  log_index,
  Number(event_id.slice(event_id.lastIndexOf("-") + 1)),
];
