import { z } from "@hono/zod-openapi";
import { zeroAddress } from "viem";
import { grouped, pageOf, text } from "../http/field.ts";
import { History } from "./order-history.ts";
import { OrderBody } from "./order-body.ts";
import {
  MAX_IN_CURRENCY,
  MAX_LISTINGS,
  MAX_OF_MAKER,
  MAX_OF_MAKER_IN_ALL,
  MAX_UNENDED_OF_MAKER,
} from "./order-room.ts";
import { ORDER_TYPE } from "./order-signature.ts";
import { OrderbookToken } from "./orderbook.ts";
import { MAX_ROWS } from "./placed-order.ts";
import { FillableOrder } from "./signed-order.ts";
import { OrderbookOffers } from "./token-offer.ts";
import { MAX_OFFERS } from "./trade-order.ts";
import { quote } from "../http/errors.ts";
import { AccountParams, ContractParams, PageQuery, textParameter, TokenParams } from "../http/parameter.ts";
import { defineRoute } from "../http/route.ts";

/** The account of the private key 1, with which the example of a signed order is signed. */
const SELLER = "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf";
/** Seaport 1.6. */
const SEAPORT = "0x0000000000000068f116a894984e2db1123eb395";
const CONTRACT = "0x7d7f4a5c2b8a0a1f6d5b1c0e9f8a7b6c5d4e3f21";

const token = {
  token_chain_id: "0x1",
  contract_address: CONTRACT,
  token_id: `0x${"2a".padStart(64, "0")}`,
  current_owner: SELLER,
  listed_timestamp: "1700000000",
  updated_timestamp: "1700000000",
  current_price: "1000000000000000000",
  quantity: "1",
  start_amount: "1000000000000000000",
  end_amount: "",
  start_date: "1700000000",
  end_date: "1702592000",
  broker_id: "0x0000a26b00c1f0df003000390027140000faa719",
  is_listed: "true",
  has_offer: "false",
  currency_address: zeroAddress,
  order_hash: "0x78bfd4831ac3c384571ca49758677a85bbfce154a43bef25b1048ce264c1ef33",
  exchange: "seaport",
};

const orderbook = { tag: "Orderbook", needsKey: false, method: "get" } as const;
const ofToken = { errors: [404, 503], meanings: { 404: "The token is unknown." } };

export const getOrderbookTokenRoute = defineRoute({
  ...orderbook,
  path: "/orderbook/token/{contract_address}/{token_id}",
  operationId: "getOrderbookToken",
  summary: "One token with its best listing",
  params: TokenParams,
  answer: z.strictObject({ result: OrderbookToken }),
  example: { result: token },
  ...ofToken,
});

export const listCollectionTokensRoute = defineRoute({
  ...orderbook,
  path: "/orderbook/tokens/collection/{contract_address}",
  operationId: "listOrderbookCollectionTokens",
  summary: "Tokens of a collection with their best listings, by ascending token id",
  params: ContractParams,
  query: PageQuery,
  answer: pageOf(OrderbookToken),
  example: { cursor: null, result: [token] },
  errors: [404, 503],
  meanings: { 404: "The contract is unknown." },
});

const owned = {
  ...orderbook,
  summary: "Tokens that an account holds with their best listings, by contract and token id",
  description:
    "The same list has three paths, `/v1/tokens/…`, `/tokens/…` and `/token/…`, and a cursor of one is good for all. " +
    "`current_owner` is the account. The best listing may be somebody else's: of another unit of an ERC-1155 token.",
  params: AccountParams,
  query: PageQuery,
  answer: pageOf(OrderbookToken),
  example: { cursor: null, result: [token] },
  errors: [503],
};

/** The same list under the three paths that the specification has for it. */
export const listOwnedTokensRoutes = [
  defineRoute({ ...owned, path: "/orderbook/v1/tokens/{account_address}", operationId: "listOrderbookOwnerTokens" }),
  defineRoute({ ...owned, path: "/orderbook/tokens/{account_address}", operationId: "listOrderbookOwnerTokensAlias" }),
  defineRoute({
    ...owned,
    path: "/orderbook/token/{account_address}",
    operationId: "listOrderbookOwnerTokensAlias2",
  }),
] as const;

export const listOffersRoute = defineRoute({
  ...orderbook,
  path: "/orderbook/token/{contract_address}/{token_id}/offers",
  operationId: "listTokenOffers",
  summary: "Extension: offers that stand now on a token or its collection, highest for one unit first",
  description: `At most ${MAX_ROWS}. Offers in the chain's own currency or its wrapped form come first, then the others by currency. Whether a bidder has the money was asked within the last few seconds.`,
  params: TokenParams,
  answer: z.strictObject({ result: OrderbookOffers }),
  example: {
    result: {
      contract_address: CONTRACT,
      token_id: token.token_id,
      current_owner: SELLER,
      current_price: "1000000000000000000",
      offers: [
        {
          offer_maker: `0x${"b0b5".repeat(10)}`,
          offer_amount: "900000000000000000",
          offer_quantity: "1",
          offer_timestamp: 1_700_000_100,
          currency_address: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
          order_hash: `0x${"0ffe".repeat(16)}`,
          exchange: "seaport",
        },
      ],
    },
  },
  ...ofToken,
});

export const listHistoryRoute = defineRoute({
  ...orderbook,
  path: "/orderbook/token/{contract_address}/{token_id}/history",
  operationId: "listTokenOrderHistory",
  summary: "Extension: what happened to the orders for a token, newest first",
  description: `At most ${MAX_ROWS}. It includes sales by orders that were never listed here.`,
  params: TokenParams,
  answer: z.strictObject({ result: History }),
  example: {
    result: {
      contract_address: CONTRACT,
      token_id: token.token_id,
      current_owner: SELLER,
      history: [
        {
          event_type: "Listing",
          event_timestamp: 1_700_000_000,
          order_status: "PLACED",
          previous_owner: SELLER,
          new_owner: "",
          amount: "1000000000000000000",
          canceled_reason: null,
          currency_address: token.currency_address,
        },
      ],
    },
  },
  ...ofToken,
});

const ZEROS = `0x${"0".repeat(64)}`;
const payment = (amount: string, recipient: string) => ({
  itemType: 0,
  token: zeroAddress,
  identifierOrCriteria: "0",
  startAmount: amount,
  endAmount: amount,
  recipient,
});
const signedOrder = {
  parameters: {
    offerer: SELLER,
    zone: zeroAddress,
    offer: [{ itemType: 2, token: CONTRACT, identifierOrCriteria: "42", startAmount: "1", endAmount: "1" }],
    consideration: [payment("975000000000000000", SELLER), payment("25000000000000000", token.broker_id)],
    orderType: 0,
    startTime: token.start_date,
    endTime: token.end_date,
    zoneHash: ZEROS,
    salt: "24446860302761739304752683030156737591518664810215442929805094493721146",
    conduitKey: ZEROS,
    counter: "0",
    totalOriginalConsiderationItems: 2,
  },
  signature:
    "0xdf0ff75811398a6d47a1ffeda729d6740450b56e98c70ff470dc4c8f556f75227c1394ed214a09daaafbf103b8adc97c488d79006980dbd2b42cadfb20805f9d1c",
};

/** Signed orders that one client address may send a minute, accepted or not: each one costs calls to the nodes. */
export const ORDERS_PER_MINUTE = 600;

export const createOrderRoute = defineRoute({
  tag: "Orderbook",
  needsKey: false,
  method: "post",
  path: "/orderbook/orders",
  operationId: "createOrder",
  summary: "Extension: takes a signed Seaport order, a listing or an offer",
  description: [
    "`parameters` and `signature` are what Seaport's own client makes: a signature of a key (65 bytes, or 64 compact), " +
      "of many orders at once (a bulk order), or of a contract (ERC-1271).",
    `Without that client, sign typed data (EIP-712). Its domain has the \`name\` Seaport, the \`version\` and the address of ` +
      `the exchange (\`verifyingContract\`), as 1.6 and \`${SEAPORT}\`, and the \`chainId\` of the main network. The type is ` +
      `\`${ORDER_TYPE}\`. \`counter\` is what the exchange answers to \`getCounter(address)\` for the maker, 0 until they raised ` +
      "it; `totalOriginalConsiderationItems` is not signed. A key's signature is r, s and v, with a v of 27 or 28. The example " +
      "is signed by the private key 1, on chain 1: with the same terms and RFC 6979 yours is the same.",
    "What the maker gives has to be approved for the exchange, or for the conduit of `conduitKey` where that isn't zero.",
    "An order is taken if it could be filled now, or at its `startTime` if that is still to come, also if only a part of " +
      "it is left. The same order again answers the same hash. Its counter and what was filled of it are read from the " +
      "exchange.",
    "A listing for one account alone, which asks for its own token for that account, is taken and is in no list: " +
      "`GET /orderbook/orders/{order_hash}` gives it.",
    "An order is refused if its token or contract is not indexed, or if a part of it was sold before the first indexed " +
      "block.",
    `For the same token, or for any token of the same contract, a maker may have ${MAX_OF_MAKER} orders that stand and ` +
      `${grouped(MAX_UNENDED_OF_MAKER)} that have not reached their end time, filled and cancelled ones included; ` +
      `${grouped(MAX_OF_MAKER_IN_ALL)} of these for everything together.`,
    `Of all makers' listings of one token, the cheapest ${grouped(MAX_LISTINGS)} that stand are kept; of offers in ` +
      `one currency that is not the chain's own, the highest ${grouped(MAX_IN_CURRENCY)}, and of all offers for the ` +
      `same, the highest ${grouped(MAX_OFFERS)}.`,
    `A client address may send ${ORDERS_PER_MINUTE} orders a minute, taken or not.`,
  ].join("\n\n"),
  body: OrderBody,
  bodyExample: signedOrder,
  answer: z.strictObject({
    result: z
      .strictObject({ order_hash: text("Hash of the order, by which `GET /orderbook/orders/{order_hash}` gives it.") })
      .openapi({ description: "The order that is listed now." }),
  }),
  example: { result: { order_hash: token.order_hash } },
  errors: [413, 415, 503],
  meanings: {
    400:
      "The body is malformed, or the order can't be taken, and the message says why: it is not signed by its maker, over, " +
      "cancelled, filled, not approved or not funded, of a kind that has no price for one token, for a token that is not " +
      "indexed, or one more than its maker may have.",
    429: `The rate limit is reached, or the client address sent ${ORDERS_PER_MINUTE} orders within a minute.`,
    503: "The database or the network's nodes don't answer, this service was given no node, or nothing is indexed yet.",
  },
});

const HASH_PATTERN = "^0x[0-9a-fA-F]{64}$";

const OrderParams = z.object({
  order_hash: textParameter("Order hash")
    .regex(new RegExp(HASH_PATTERN), {
      error: ({ input }) => `Order hash ${quote(input)} is invalid. Expected 0x and 64 hex digits.`,
    })
    .transform((value) => value.toLowerCase())
    .openapi({
      type: "string",
      pattern: HASH_PATTERN,
      description: "Hash of the order, in any case.",
      example: `0x${"5e".repeat(32)}`,
    }),
});

export const getOrderRoute = defineRoute({
  ...orderbook,
  path: "/orderbook/orders/{order_hash}",
  operationId: "getOrder",
  summary: "Extension: a signed order, with what it takes to fill it",
  description:
    "An order that was sent to `POST /orderbook/orders`: `parameters` and `signature` are what Seaport and its client take to fill it. Orders that their makers put on the chain are not here; their terms are in the chain's logs.",
  params: OrderParams,
  answer: z.strictObject({ result: FillableOrder }),
  example: {
    result: {
      order_hash: token.order_hash,
      exchange_address: SEAPORT,
      placed_timestamp: 1_700_000_000,
      is_fillable: true,
      ...signedOrder,
    },
  },
  errors: [404, 503],
  meanings: { 404: "No order with this hash was sent here, or its contract is left out." },
});

/** Routes of the Orderbook API: the specification's in its order, then our extensions. */
export const ORDERBOOK_ROUTES = [
  getOrderbookTokenRoute,
  listCollectionTokensRoute,
  ...listOwnedTokensRoutes,
  listOffersRoute,
  listHistoryRoute,
  createOrderRoute,
  getOrderRoute,
] as const;
