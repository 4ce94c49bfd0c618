import { z } from "@hono/zod-openapi";
import type { Sql, TransactionSql } from "postgres";
import type { Hex } from "viem";
import { toBytes } from "../../offchain/bytea.ts";
import { SEAPORT_VERSIONS } from "../../abis/seaport.ts";
import { flag, integer, list, text } from "../http/field.ts";
import { toArray } from "../sql/database.ts";
import { isShownText } from "../token/contract.ts";
import { ZERO_LITERAL } from "../token/holding.ts";
import { CURRENT_OWNER } from "../token/token.ts";
import type { Sent } from "./order-room.ts";
import { isFillable, isFunded, isUnderCounter, JOIN_TOKEN } from "./order-rule.ts";
import type { OrderComponents } from "./order-signature.ts";
import { ORDER_TEXT } from "./order-text.ts";
import { CHAIN, type Condition, isInTime, type Moment, momentParameters, openOrders } from "./trade-order.ts";

const textOf = (name: keyof typeof ORDER_TEXT) => text(ORDER_TEXT[name]);
const integerOf = (name: keyof typeof ORDER_TEXT) => integer(ORDER_TEXT[name]);

const Item = {
  itemType: integerOf("itemType"),
  token: textOf("token"),
  identifierOrCriteria: textOf("identifierOrCriteria"),
  startAmount: textOf("startAmount"),
  endAmount: textOf("endAmount"),
};

/** A signed order with everything that a taker needs to fill it. */
export const FillableOrder = z
  .strictObject({
    order_hash: text("Hash of the order, as the exchange has it."),
    exchange_address: text("The Seaport that it was signed for."),
    placed_timestamp: integer("Unix seconds of when it was sent here first."),
    is_fillable: flag(
      "What is left of it could be filled now: by the same rules as lists have, with what a bidder has as of the last " +
        "few seconds. Lists leave out a listing for one account alone, which may be fillable all the same. Whether its " +
        "zone, or a contract that is to move something, agrees isn't asked.",
    ),
    parameters: z
      .strictObject({
        offerer: textOf("offerer"),
        zone: textOf("zone"),
        offer: list(z.strictObject(Item), ORDER_TEXT.offer),
        consideration: list(z.strictObject({ ...Item, recipient: textOf("recipient") }), ORDER_TEXT.consideration),
        orderType: integerOf("orderType"),
        startTime: textOf("startTime"),
        endTime: textOf("endTime"),
        zoneHash: textOf("zoneHash"),
        salt: textOf("salt"),
        conduitKey: textOf("conduitKey"),
        counter: textOf("counter"),
        totalOriginalConsiderationItems: integerOf("totalOriginalConsiderationItems"),
      })
      .openapi({ description: "As Seaport and its client take them. Texts of numbers are decimal." }),
    signature: textOf("signature"),
  })
  .openapi("FillableOrder", {
    description: "An order that its maker sent here, with what Seaport's client takes to fill it.",
  });
export type FillableOrder = z.infer<typeof FillableOrder>;

const isThisOrder: Condition = (table) => `
  ${table}.exchange_address = sent.exchange_address
  and ${table}.order_hash = sent.order_hash
`;
// A private listing stands too: whoever knows its hash may be the one that it is for.
const isOpenOf = (side: "listing" | "offer", rest: string) => `
  exists (
    select
    from ${openOrders((table) => `${isThisOrder(table)} and ${table}.side = '${side}'`, isInTime)} as trade_order
    ${rest}
  )
`;

/** Whether somebody has the token of an offer: else nobody could accept it. */
const IS_ABOUT_HELD = `
  case
    when trade_order.token_id is null then true
    else (
      select ${CURRENT_OWNER} <> ${ZERO_LITERAL}
      from token
      where
        token.contract_address = trade_order.contract_address
        and token.token_id = trade_order.token_id
    )
  end
`;

/** $1: hash, $4: all known exchanges, without 0x. They are given because the index begins with the exchange. */
const SIGNED_ORDER = `
  select
    '0x' || encode(sent.exchange_address, 'hex') as exchange_address,
    sent.placed_timestamp,
    case sent.side
      when 'listing' then ${isOpenOf("listing", `${JOIN_TOKEN} where ${isFillable("trade_order", "token")}`)}
      else ${isOpenOf("offer", `where ${isUnderCounter("trade_order")} and ${isFunded("trade_order")} and ${IS_ABOUT_HELD}`)}
    end as is_fillable,
    sent.parameters,
    '0x' || encode(sent.signature, 'hex') as signature
  from unnest($4::text[]) as exchange (address)
  inner join signed_order as sent on sent.exchange_address = decode(exchange.address, 'hex')
  where
    sent.chain_id = ${CHAIN}
    and sent.order_hash = $1
    and ${isShownText({ chainId: CHAIN, contractAddress: "sent.contract_address" })}
  order by
    is_fillable desc,
    sent.placed_timestamp desc
  limit 1
`;

/** An order that its maker sent here. If it was signed for several exchanges, one that could be filled comes first. */
export async function findSignedOrder(
  sql: Sql,
  { orderHash, extraExchanges, ...moment }: Moment & { orderHash: string; extraExchanges: readonly string[] },
): Promise<FillableOrder | undefined> {
  const exchanges = [...Object.keys(SEAPORT_VERSIONS), ...extraExchanges].map((address) => address.slice(2));
  const [row] = await sql.unsafe<(Omit<FillableOrder, "order_hash" | "parameters"> & { parameters: string })[]>(
    SIGNED_ORDER,
    [toBytes(orderHash), ...momentParameters(moment), toArray(exchanges)],
    { prepare: true },
  );
  if (!row) return undefined;
  const parameters = JSON.parse(row.parameters) as FillableOrder["parameters"];
  const totalOriginalConsiderationItems = parameters.consideration.length;
  return { order_hash: orderHash, ...row, parameters: { ...parameters, totalOriginalConsiderationItems } };
}

/**
 * Stores a signed order. If it is stored already, it keeps its signature, unless its contract wallet disowned that one:
 * as the worker was told, or as `isReplaced` says. That of a key, which an account with code may have too, stands for
 * ever and takes the place of a contract's. `contractDigest`: see `findSigned`; `isCounterLogged`: see the function.
 */
export async function insertOrder(
  sql: TransactionSql,
  {
    chainId,
    exchange,
    orderHash,
    terms,
    order,
    operator,
    signature,
    contractDigest,
    isReplaced,
    isCounterLogged,
    now,
  }: Sent & {
    exchange: Hex;
    order: OrderComponents;
    operator: Hex;
    signature: Hex;
    contractDigest: Hex | null;
    isReplaced: boolean;
    isCounterLogged: boolean;
  },
): Promise<void> {
  const numeric = (value: bigint | null) => value?.toString() ?? null;
  const row = {
    chain_id: chainId,
    exchange_address: toBytes(exchange),
    order_hash: toBytes(orderHash),
    side: terms.side,
    maker: toBytes(terms.maker),
    contract_address: toBytes(terms.contract_address),
    token_id: numeric(terms.token_id),
    token_standard: terms.token_standard,
    quantity: numeric(terms.quantity),
    currency_address: toBytes(terms.currency_address),
    start_amount: numeric(terms.start_amount),
    end_amount: numeric(terms.end_amount),
    unit_price: numeric(terms.unit_price),
    amounts: terms.amounts,
    start_time: terms.start_time,
    end_time: terms.end_time,
    counter: numeric(order.counter),
    operator: toBytes(operator),
    taker: terms.taker === null ? null : toBytes(terms.taker),
    broker: toBytes(terms.broker),
    placed_timestamp: now,
    parameters: JSON.stringify(order, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value)),
    signature: toBytes(signature),
    contract_digest: contractDigest === null ? null : toBytes(contractDigest),
  };
  await sql`
    insert into offchain.signed_order ${sql(row)}
    on conflict (chain_id, exchange_address, order_hash) do update
    set
      signature = excluded.signature,
      contract_digest = excluded.contract_digest,
      is_disowned = false
    where
      signed_order.is_disowned
      or ${isReplaced}
      or (signed_order.contract_digest is not null and excluded.contract_digest is null)
  `;
  // Again for an order that is stored already: indexing may have been begun anew at a later block.
  await sql`
    update offchain.signed_order
    set is_counter_logged = ${isCounterLogged}
    where
      chain_id = ${chainId}
      and exchange_address = ${row.exchange_address}
      and order_hash = ${row.order_hash}
  `;
}
