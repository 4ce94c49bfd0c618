import type { Sql, TransactionSql } from "postgres";
import type { Hex } from "viem";
import { SEAPORT_VERSIONS } from "../../abis/seaport.ts";
import {
  dueOf,
  findFault,
  moverOf,
  operatorOf,
  type OrderParameters,
  readTerms,
  type Terms,
} from "../../abis/seaport-order.ts";
import { digestOf, hashOrder, type OrderComponents, recoverSigner } from "../../abis/seaport-signature.ts";
import { toBytes } from "../sql/database.ts";
import { invalid } from "../http/errors.ts";
import type { OrderBody } from "./order-body.ts";
import type { OrderChain } from "./order-chain.ts";
import { requireKnown, requireMoney, requireToken } from "./order-check.ts";
import { makeRoom, requireRoom, type Sent } from "./order-room.ts";

/** Versions that an exchange whose version nobody told may be of: it is the one that the signature fits. */
const POSSIBLE_VERSIONS = ["1.6", "1.5", "1.4", "1.1"];

type Place = { exchange: Hex; version: string };
type Found = Place & { order: OrderComponents; orderHash: Hex };

/** Restricted by a zone or not, an order that is a contract's own is never signed. */
const CONTRACT_ORDER = 4;

/**
 * Takes a signed order if it could be filled now, and answers its hash. The same order twice is one.
 *
 * @throws HttpError 400 with what is wrong
 */
export async function takeOrder(
  sql: Sql,
  chain: OrderChain,
  {
    chainId,
    body,
    extraExchanges,
    now,
  }: { chainId: number; body: OrderBody; extraExchanges: readonly string[]; now: number },
): Promise<Hex> {
  const { parameters, signature } = body;
  const count = BigInt(parameters.consideration.length);
  if ((parameters.totalOriginalConsiderationItems ?? count) !== count)
    throw invalid(
      `totalOriginalConsiderationItems is ${parameters.totalOriginalConsiderationItems}. Expected ${count}, the number of items.`,
    );
  if (parameters.orderType === CONTRACT_ORDER)
    throw invalid("orderType is 4. Expected 0 to 3: orders of contracts are not signed.");
  if (parameters.startTime >= parameters.endTime) throw invalid("The order ends before it starts.");
  if (parameters.endTime <= BigInt(now)) throw invalid("The order has expired.");

  const places = listPlaces(body.exchange_address, extraExchanges);
  // What costs nothing comes first, so that nobody has the nodes asked for an order that couldn't be taken anyway.
  await requireKnown(sql, requireTerms(parameters, places[0]!));
  const counterAt = createCounters(sql, chain, { maker: parameters.offerer });
  const found = await findSigned(chain, { chainId, parameters, signature, places, counterAt });
  if (!found) throw invalid("The signature is not the offerer's for this order.");
  const { exchange, order, orderHash } = found;
  const counter = await counterAt(exchange);
  if (order.counter !== counter)
    throw invalid(`The order is cancelled: its counter is ${order.counter}. Expected ${counter}, the offerer's.`);

  const terms = requireTerms(order, { exchange });
  const left = await requireOpen(sql, chain, { exchange, orderHash, terms });
  const operator = await findOperator(sql, { conduitKey: order.conduitKey, exchange });
  const mover = moverOf(order, { operator });
  if (!mover)
    throw invalid(
      `The order is for ${operator} to fill, whom the adapter of OpenSea's storefront doesn't obey. Expected OpenSea's conduit.`,
    );
  const where = { exchange, operator };
  if (terms.side === "listing") await requireToken(sql, chain, { terms, left, mover, ...where });
  else {
    const due = dueOf(order, { quantity: terms.quantity, left, second: BigInt(now) });
    await requireMoney(chain, { terms, due, ...where });
  }
  const sent = { chainId, now, terms, orderHash };
  await sql.begin(async (tx) => {
    // One order of a maker after the other: each finds those before it, and is seen by others once there is room for it.
    await tx`select pg_advisory_xact_lock(hashtextextended(${`orders of ${terms.maker} on ${chainId}`}, 0))`;
    await requireRoom(tx, sent);
    await insertOrder(tx, { ...sent, exchange, order, operator: mover, signature });
    await makeRoom(tx, sent);
  });
  return orderHash;
}

/** @throws HttpError 400 where the parameters alone say that the order can't be listed */
function requireTerms(parameters: OrderParameters, { exchange }: { exchange: Hex }): Terms {
  const fault = findFault(parameters);
  if (fault !== undefined) throw invalid(fault);
  const terms = readTerms(parameters, { exchange });
  if (!terms)
    throw invalid(
      "The order is not one that can be listed. Expected one token on one side and one currency on the other.",
    );
  if ([terms.start_amount, terms.end_amount].every((amount) => amount === 0n))
    throw invalid("The order asks for nothing. Expected a price.");
  return terms;
}

function listPlaces(exchange: Hex | undefined, extraExchanges: readonly string[]): Place[] {
  // The newest first, and first of all where it is on most chains.
  const known = Object.entries(SEAPORT_VERSIONS).toSorted(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0));
  const extra = extraExchanges
    .filter((address) => !(address in SEAPORT_VERSIONS))
    .flatMap((address) => POSSIBLE_VERSIONS.map((version) => [address, version] as const));
  const all = [...known, ...extra].map(([address, version]) => ({ exchange: address as Hex, version }));
  if (exchange === undefined) return all;
  const own = all.filter((place) => place.exchange === exchange);
  if (own.length === 0) throw invalid(`exchange_address ${exchange} is unknown. Expected one of a Seaport.`);
  return own;
}

/** The exchange for which the offerer has signed the order. */
async function findSigned(
  chain: OrderChain,
  {
    chainId,
    parameters,
    signature,
    places,
    counterAt,
  }: {
    chainId: number;
    parameters: OrderBody["parameters"];
    signature: Hex;
    places: Place[];
    counterAt: (exchange: Hex) => Promise<bigint>;
  },
): Promise<Found | undefined> {
  const candidates = await Promise.all(
    places.map(async (place): Promise<Found> => {
      // An order that doesn't say its counter is meant to be good now.
      const order = { ...parameters, counter: parameters.counter ?? (await counterAt(place.exchange)) };
      return { ...place, order, orderHash: hashOrder(order) };
    }),
  );
  for (const found of candidates) {
    const signer = await recoverSigner(found.orderHash, signature, { ...found, chainId });
    if (signer === found.order.offerer) return found;
  }
  // Only a contract says itself whether it signed, and only exchanges that are on this chain are worth the question.
  if (!(await chain.hasCode(parameters.offerer))) return undefined;
  const isThere = await Promise.all(candidates.map(({ exchange }) => chain.hasExchange(exchange)));
  const possible = candidates.filter((_, index) => isThere[index]);
  const answers = await Promise.all(
    possible.map(({ orderHash, order, ...place }) =>
      chain.isSignedByContract(order.offerer, { digest: digestOf(orderHash, { ...place, chainId }), signature }),
    ),
  );
  // A wallet that says yes to several is taken to mean the first.
  return possible.find((_, index) => answers[index]);
}

/** A maker's counters, each asked for once. */
function createCounters(sql: Sql, chain: OrderChain, { maker }: { maker: Hex }): (exchange: Hex) => Promise<bigint> {
  const counters = new Map<Hex, Promise<bigint>>();
  return (exchange) => {
    const counter = counters.get(exchange) ?? findCounter(sql, chain, { exchange, maker });
    counters.set(exchange, counter);
    return counter;
  };
}

/**
 * The greater of what the exchange says and what its logs do, because counters only grow: it may have been raised before
 * the first block that is indexed, and a node may lag.
 */
async function findCounter(
  sql: Sql,
  chain: OrderChain,
  { exchange, maker }: { exchange: Hex; maker: Hex },
): Promise<bigint> {
  const [told = 0n, [row]] = await Promise.all([
    chain.hasExchange(exchange).then((isThere) => (isThere ? chain.counterOf(exchange, maker) : undefined)),
    sql<{ counter: string }[]>`
      select counter
      from order_counter
      where
        exchange_address = ${toBytes(exchange)}
        and maker = ${toBytes(maker)}
    `,
  ]);
  const logged = BigInt(row?.counter ?? 0);
  return told > logged ? told : logged;
}

/**
 * Units that are left of an order: it may have been sent before, or filled in part by somebody who had it. Only as long as
 * logs say all that was filled is it known later what is left.
 */
async function requireOpen(
  sql: Sql,
  chain: OrderChain,
  { exchange, orderHash, terms }: { exchange: Hex; orderHash: Hex; terms: Terms },
): Promise<bigint> {
  const [[state], told] = await Promise.all([
    sql<{ is_cancelled: boolean; filled: string }[]>`
      select
        is_cancelled,
        filled
      from trade_order
      where
        exchange_address = ${toBytes(exchange)}
        and order_hash = ${toBytes(orderHash)}
    `,
    chain.statusOf(exchange, orderHash),
  ]);
  if (state?.is_cancelled || told?.isCancelled) throw invalid("The order is cancelled.");
  const filledThere = told && told.parts > 0n ? (terms.quantity * told.filledParts) / told.parts : 0n;
  const filledHere = BigInt(state?.filled ?? 0);
  if (filledHere >= terms.quantity || filledThere >= terms.quantity) throw invalid("The order is filled.");
  if (filledThere > filledHere)
    throw invalid(
      `${filledThere - filledHere} of the order's units were filled in blocks that are not indexed. Expected a new order for what is left, or the same one once they are.`,
    );
  return terms.quantity - filledHere;
}

/** Where the conduit of a key is, as its controller said or as follows from the key. */
async function findOperator(sql: Sql, { conduitKey, exchange }: { conduitKey: Hex; exchange: Hex }): Promise<Hex> {
  const [row] = await sql<{ address: Hex }[]>`
    select '0x' || encode(conduit_address, 'hex') as address
    from conduit
    where conduit_key = ${toBytes(conduitKey)}
  `;
  return row?.address ?? operatorOf(conduitKey, { exchange });
}

async function insertOrder(
  sql: TransactionSql,
  {
    chainId,
    exchange,
    orderHash,
    terms,
    order,
    operator,
    signature,
    now,
  }: Sent & {
    exchange: Hex;
    order: OrderComponents;
    operator: Hex;
    signature: Hex;
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
  };
  await sql`
    insert into offchain.signed_order ${sql(row)}
    on conflict do nothing
  `;
}
