import { z } from "@hono/zod-openapi";
import type { Fragment, Sql } from "postgres";
import { toBytes } from "../../offchain/bytea.ts";
import { MARKETPLACES } from "../../abis/marketplace.ts";
import { WITH_CONTRACT_TYPE } from "./contract.ts";
import { integer, oneOf, text } from "../http/field.ts";
import type { Parameter } from "../sql/database.ts";
import { ContractAddress, ContractType, TokenId, TokenIdHex } from "./token-field.ts";

const marketplaces = new Intl.ListFormat("en-GB").format(MARKETPLACES.map((name) => `\`${name}\``));

/** An event of one token: it moved, or was sold. */
export const Event = z
  .strictObject({
    contract_address: ContractAddress,
    contract_type: ContractType,
    event_id: text("`<transaction_hash>-<log_index>-<place in the log>`: unique, and the same after every rebuild."),
    event_type: oneOf({
      mint: "from the zero address",
      transfer: "from one account to another",
      burn: "to the zero address",
      sale: "sold on a marketplace, beside the transfer that carried it",
    }),
    from_address: text("Sender; the zero address on a mint, the seller on a sale."),
    to_address: text("Receiver; the zero address on a burn, the buyer on a sale."),
    timestamp: integer("Unix seconds of the block."),
    token_id: TokenId,
    token_id_hex: TokenIdHex,
    transaction_hash: text("Hash of the transaction."),
    quantity: text("Extension: units moved or sold, decimal; a transfer may be of 0."),
    block_number: integer("Extension: number of the block."),
    log_index: integer("Extension: place of the log in its block, from 0."),
    price: text(
      "Extension, of a sale alone: for all units of this event, in the smallest unit of the currency, decimal, fees " +
        "included but for what `price_note` says. Null where no log tells it.",
    )
      .nullable()
      .optional(),
    currency_address: text(
      "Extension, of a sale alone: contract of the currency; the zero address is the chain's own. Null where `price` is.",
    )
      .nullable()
      .optional(),
    price_note: text(
      "Extension, of a sale alone: null where the price is simply what was paid. `bundle`: it is a share, by units, of " +
        "one total for several tokens. `fees on top`: it is the order's, to which the buyer may have paid fees on top " +
        "of which no log has the amount. Others say why there is none: `barter` (tokens for tokens), `several currencies`, " +
        "`unknown currency` and `unknown bid` (logs don't tell), `out of range` (above 2^256-1).",
    )
      .nullable()
      .optional(),
    marketplace: text(`Extension, of a sale alone: the exchange, one of ${marketplaces}.`).optional(),
    broker: text(
      "Extension, of a sale alone: its first fee recipient that isn't the seller, else the exchange's contract.",
    ).optional(),
  })
  .openapi("Event", {
    description: "One token that moved, or was sold: each entry of a batch is an event of its own.",
  });
export type Event = z.infer<typeof Event>;

/** The sort key of events: block, log, place within the log. */
export type EventKey = [number, number, number];

/** An event with its contract's type. The fields of a sale are null where it is none. */
export type EventRow = {
  contract_address: string;
  contract_type: string;
  event_type: string;
  from_address: string;
  to_address: string;
  timestamp: number;
  token_id: string;
  transaction_hash: string;
  quantity: string;
  block_number: number;
  log_index: number;
  batch_index: number;
  price: string | null;
  currency_address: string | null;
  price_note: string | null;
  marketplace: string | null;
  broker: string | null;
};

/** The sort key of a row, of an event or of what an event left behind. */
export const eventRowKey = ({
  block_number,
  log_index,
  batch_index,
}: Pick<EventRow, "block_number" | "log_index" | "batch_index">): EventKey => [block_number, log_index, batch_index];

/** Later than all events: no block number reaches 2^53. */
export const BEHIND_ALL: EventKey = [Number.MAX_SAFE_INTEGER, 0, 0];

/** The columns of an event, without its contract and the contract's type. */
const EVENT_COLUMNS = `
  token_event.event_type,
  '0x' || encode(token_event.from_address, 'hex') as from_address,
  '0x' || encode(token_event.to_address, 'hex') as to_address,
  token_event.timestamp,
  token_event.token_id,
  '0x' || encode(token_event.transaction_hash, 'hex') as transaction_hash,
  token_event.quantity,
  token_event.block_number,
  token_event.log_index,
  token_event.batch_index,
  token_event.price,
  '0x' || encode(token_event.currency_address, 'hex') as currency_address,
  token_event.price_note,
  token_event.marketplace,
  '0x' || encode(token_event.broker, 'hex') as broker
`;
/** The same as a fragment. */
export const eventColumns = (sql: Sql): Fragment => sql.unsafe(EVENT_COLUMNS);

/** SQL of a column of the newest event of `token` that meets `condition`. Null where there is none. */
export const ofNewestEvent = (column: string, condition = "true") => `
  (
    select ${column}
    from token_event
    where
      token_event.contract_address = token.contract_address
      and token_event.token_id = token.token_id
      and ${condition}
    order by
      token_event.block_number desc,
      token_event.log_index desc,
      token_event.batch_index desc
    limit 1
  )
`;

/**
 * Bounds of one index instead of `contract_address =`. With equality the planner may walk the events of all contracts,
 * which have the same order then, and filter.
 */
const OF_CONTRACT = {
  condition: `
    (
      token_event.contract_address,
      token_event.block_number,
      token_event.log_index,
      token_event.batch_index
    ) < ($3, $4, $5, $6)
    and token_event.contract_address >= $3
  `,
  order: "token_event.contract_address desc",
};
/**
 * An order that only the index of a token's events has. With bounds of the contract, too, Postgres sorted all of its
 * events.
 */
const OF_TOKEN = {
  condition: `
    token_event.contract_address = $3
    and (
      token_event.token_id,
      token_event.block_number,
      token_event.log_index,
      token_event.batch_index
    ) < ($7, $4, $5, $6)
    and token_event.token_id >= $7
  `,
  order: "token_event.token_id desc",
};

/**
 * Parameters: rows, chain, contract, the block, log and place within it to continue behind, and the token id where
 * there is one.
 */
const eventsOf =
  ({ condition, order }: { condition: string; order: string }) =>
  (columns: string) =>
    `
    select ${columns}
    from token_event
    where
      exists (select from contract_type)
      and ${condition}
    order by
      ${order},
      token_event.block_number desc,
      token_event.log_index desc,
      token_event.batch_index desc
    limit $1
  `;
/** SQL of the events of a contract, or of a token. `WITH_CONTRACT_TYPE` must come before it. */
export const EVENTS = { ofContract: eventsOf(OF_CONTRACT), ofToken: eventsOf(OF_TOKEN) };

/** Which events: `before` is the key of the last one that was shown, `limit` the number of rows. */
export type EventsOptions = {
  chainId: number;
  contractAddress: string;
  tokenId?: string | undefined;
  before: EventKey | undefined;
  limit: number;
};

/** The parameters of `EVENTS` after the number of rows. */
export const eventParameters = ({ chainId, contractAddress, tokenId, before }: EventsOptions): Parameter[] => [
  chainId,
  toBytes(contractAddress),
  ...(before ?? BEHIND_ALL),
  ...(tokenId === undefined ? [] : [tokenId]),
];

const ROW = `
  '0x' || encode($3, 'hex') as contract_address,
  (select contract_type from contract_type) as contract_type,
  ${EVENT_COLUMNS}
`;
const CONTRACT_EVENTS = `${WITH_CONTRACT_TYPE} ${EVENTS.ofContract(ROW)}`;
const TOKEN_EVENTS = `${WITH_CONTRACT_TYPE} ${EVENTS.ofToken(ROW)}`;

/** The events of a contract, or of one of its tokens, newest first. None where the contract is hidden. */
export async function listEvents(sql: Sql, options: EventsOptions): Promise<EventRow[]> {
  const text = options.tokenId === undefined ? CONTRACT_EVENTS : TOKEN_EVENTS;
  return sql.unsafe<EventRow[]>(text, [options.limit, ...eventParameters(options)], { prepare: true });
}
