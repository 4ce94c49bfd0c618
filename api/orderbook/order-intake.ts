import type { Sql } from "postgres";
import { type Hex, zeroHash } from "viem";
import {
  findFault,
  moverOf,
  operatorOf,
  type OrderParameters,
  readTerms,
  type Terms,
} from "../../abis/seaport-order.ts";
import { toBytes } from "../../offchain/bytea.ts";
import { invalid } from "../http/errors.ts";
import { requireRecipients, requireToken } from "./listing-check.ts";
import { dueOf, requireMoney, requireReceiver } from "./offer-check.ts";
import type { OrderBody } from "./order-body.ts";
import type { OrderChain } from "./order-chain.ts";
import { requireKnown } from "./order-check.ts";
import { describeFault } from "./order-fault.ts";
import { makeRoom, requireRoom } from "./order-room.ts";
import { findBareV } from "./order-signature.ts";
import { createCounters, findSigned, isCounterLogged, listPlaces } from "./order-signer.ts";
import { insertOrder } from "./signed-order.ts";

/** `orderType` of an order that a contract makes itself. Such an order is never signed. */
const CONTRACT_ORDER = 4;
/** From this `orderType` on, an order is filled only as its zone allows. */
const FIRST_RESTRICTED_ORDER = 2;

/**
 * Takes a signed order if it could be filled now, and returns its hash. An order that is sent twice is stored once.
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
  requireSignable(parameters, { now });
  const places = listPlaces(body.exchange_address, extraExchanges);
  // Checks that need no node come first, so that an order which fails them costs no question to the nodes.
  await requireKnown(sql, { chainId, terms: requireTerms(parameters, { ...places[0]!, chainId }) });
  const counterAt = createCounters(sql, chain, { maker: parameters.offerer });
  const found = await findSigned(chain, { chainId, parameters, signature, places, counterAt });
  if (!found) throw invalid(misfitOf(signature, { chainId }));
  const { exchange, order, orderHash, contractDigest } = found;
  const counter = await counterAt(exchange);
  if (order.counter !== counter)
    throw invalid(`The order is cancelled: its counter is ${order.counter}. Expected ${counter}, the offerer's.`);

  const terms = requireTerms(order, { exchange, chainId });
  const left = await requireOpen(sql, chain, { exchange, orderHash, terms });
  const operator = await findOperator(sql, chain, { conduitKey: order.conduitKey, exchange });
  const mover = moverOf(order, { operator });
  if (!mover)
    throw invalid(
      `The order is for ${operator} to fill, whom the adapter of OpenSea's storefront doesn't obey. Expected OpenSea's conduit.`,
    );
  const zone = order.orderType >= FIRST_RESTRICTED_ORDER ? order.zone : undefined;
  const where = { exchange, operator, zone };
  if (terms.side === "listing") {
    await requireToken(sql, chain, { chainId, terms, left, mover, ...where });
    await requireRecipients(chain, { order, exchange });
  } else {
    const due = dueOf(order, { quantity: terms.quantity, left, second: BigInt(now) });
    await requireMoney(sql, chain, { chainId, terms, due, ...where });
    await requireReceiver(chain, { order, terms, left, exchange });
  }
  const sent = { chainId, now, terms, orderHash };
  const isReplaced =
    contractDigest !== null && (await isDisowned(sql, chain, { ...sent, exchange, digest: contractDigest, signature }));
  const isLogged = await isCounterLogged(sql, chain, { exchange, maker: terms.maker, counter });
  await sql.begin(async (tx) => {
    // A maker's orders are stored one after another: each sees the ones before it, and is visible once it has room.
    await tx`select pg_advisory_xact_lock(hashtextextended(${`orders of ${terms.maker} on ${chainId}`}, 0))`;
    await requireRoom(tx, sent);
    const signed = { exchange, order, operator: mover, signature, contractDigest };
    await insertOrder(tx, { ...sent, ...signed, isReplaced, isCounterLogged: isLogged });
    await makeRoom(tx, sent);
  });
  return orderHash;
}

/** @throws HttpError 400 where nobody signs such an order, or where it is over */
function requireSignable(
  { consideration, totalOriginalConsiderationItems: total, orderType, startTime, endTime }: OrderBody["parameters"],
  { now }: { now: number },
): void {
  const count = BigInt(consideration.length);
  if ((total ?? count) !== count)
    throw invalid(`totalOriginalConsiderationItems is ${total}. Expected ${count}, the number of items.`);
  if (orderType === CONTRACT_ORDER)
    throw invalid("orderType is 4. Expected 0 to 3: orders of contracts are not signed.");
  if (startTime >= endTime) throw invalid("The order ends before it starts.");
  if (endTime <= BigInt(now)) throw invalid("The order has expired.");
}

/** What is said of a signature that fits no exchange. */
function misfitOf(signature: Hex, { chainId }: { chainId: number }): string {
  const misfit = "The signature is not the offerer's for this order";
  const bareV = findBareV(signature);
  return bareV === undefined
    ? `${misfit}. Expected theirs, for Seaport on chain ${chainId}.`
    : `${misfit}: it ends in ${bareV.slice(2)}. Expected 1b or 1c (27 or 28) at the end of a key's.`;
}

/** @throws HttpError 400 where the parameters alone say that the order can't be listed */
function requireTerms(parameters: OrderParameters, where: { exchange: Hex; chainId: number }): Terms {
  const fault = findFault(parameters);
  if (fault !== undefined) throw invalid(describeFault(fault));
  const terms = readTerms(parameters, where);
  if (!terms)
    throw invalid(
      "The order is not one that can be listed. Expected one token on one side and one currency on the other. An offer may be for any token of a contract, with an identifierOrCriteria of 0, but not for some of them.",
    );
  if ([terms.start_amount, terms.end_amount].every((amount) => amount === 0n))
    throw invalid("The order asks for nothing. Expected a price.");
  // Whoever fills such orders as a group may leave the item out, but no client does that.
  const items = [...parameters.offer, ...parameters.consideration];
  if (items.some(({ startAmount, endAmount }) => startAmount === 0n && endAmount === 0n))
    throw invalid(
      "An item's startAmount and endAmount are 0. Expected an amount, or no such item: Seaport fills no such order by itself.",
    );
  return terms;
}

/**
 * Units that are left of an order. It may have been sent before, or filled in part by somebody who had it. It is
 * refused if the exchange has filled more than indexed logs say: the units left are computed from logs alone later on.
 *
 * @throws HttpError 400 where the order is cancelled, filled, or filled in part in blocks that are not indexed
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

/**
 * Whether the order is stored with another signature, which its contract wallet no longer confirms. The worker finds
 * that out, too, but some seconds later: by then the order would be gone, though it was sent again with a signature that
 * is good.
 */
async function isDisowned(
  sql: Sql,
  chain: OrderChain,
  {
    chainId,
    exchange,
    orderHash,
    terms,
    digest,
    signature,
  }: { chainId: number; exchange: Hex; orderHash: Hex; terms: Terms; digest: Hex; signature: Hex },
): Promise<boolean> {
  const [stored] = await sql<{ signature: Hex }[]>`
    select '0x' || encode(signature, 'hex') as signature
    from signed_order
    where
      chain_id = ${chainId}
      and exchange_address = ${toBytes(exchange)}
      and order_hash = ${toBytes(orderHash)}
      and contract_digest is not null
      and signature <> ${toBytes(signature)}
  `;
  return (
    stored !== undefined &&
    !(await chain.isSignedByContract({ signer: terms.maker, digest, signature: stored.signature }, { exchange }))
  );
}

/** Address of a key's conduit: as the exchange's own controller says, else as the usual one logged, else as follows. */
async function findOperator(
  sql: Sql,
  chain: OrderChain,
  { conduitKey, exchange }: { conduitKey: Hex; exchange: Hex },
): Promise<Hex> {
  if (conduitKey === zeroHash) return exchange;
  const own = await chain.conduitOf(conduitKey, { exchange });
  if (own) return own;
  const [row] = await sql<{ address: Hex }[]>`
    select '0x' || encode(conduit_address, 'hex') as address
    from conduit
    where conduit_key = ${toBytes(conduitKey)}
  `;
  return row?.address ?? operatorOf(conduitKey, { exchange });
}
