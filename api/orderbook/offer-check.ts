import type { Sql } from "postgres";
import type { Hex } from "viem";
import { toBytes } from "../../offchain/bytea.ts";
import { isNft, type OrderParameters, type Terms } from "../../abis/seaport-order.ts";
import { invalid } from "../http/errors.ts";
import type { OrderChain } from "./order-chain.ts";
import { type Place, requirePlace } from "./order-check.ts";

/**
 * Stores what a bidder can pay, so that the offer is shown at once.
 *
 * @throws HttpError 400 where that is less than the offer would pay now
 */
export async function requireMoney(
  sql: Sql,
  chain: OrderChain,
  { chainId, terms, due, ...place }: Place & { chainId: number; terms: Terms; due: bigint },
): Promise<void> {
  const { currency_address: currency, maker: owner } = terms;
  const spendable = await requirePlace(
    chain,
    { terms, ...place },
    chain.spendable(currency, { owner, operator: place.operator }),
  );
  if (spendable < due)
    throw invalid(`The offer is not funded: ${spendable} of ${currency} can be taken. Expected ${due}.`);
  // As the worker does, which may have been told less before.
  await sql`
    insert into offchain.offer_funds ${sql({
      chain_id: chainId,
      currency_address: toBytes(currency),
      maker: toBytes(owner),
      operator: toBytes(place.operator),
      spendable: spendable.toString(),
    })}
    on conflict (chain_id, currency_address, maker, operator) do update
    set
      spendable = excluded.spendable,
      checked_at = now()
  `;
}

/** @throws HttpError 400 where an offer is for units that whom it asks them for, a contract, doesn't take */
export async function requireReceiver(
  chain: OrderChain,
  {
    order: { consideration },
    terms,
    left,
    exchange,
  }: { order: OrderParameters; terms: Terms; left: bigint; exchange: Hex },
): Promise<void> {
  const { contract_address: contract, token_id, token_standard } = terms;
  if (token_standard !== "ERC1155") return;
  const { recipient } = consideration.find(isNft)!;
  if (await chain.takesUnits(recipient, { exchange, contract, tokenId: token_id ?? 0n, units: left })) return;
  throw invalid(`The recipient ${recipient} doesn't take ERC-1155 tokens. Expected one that does.`);
}

/**
 * What a bidder pays at a second for `left` of an offer's units. Each payment is rounded down by itself, as Seaport
 * does.
 *
 * @throws HttpError 400 where a payment has come down to nothing: Seaport doesn't fill such an offer by itself
 */
export function dueOf(
  { offer, startTime, endTime }: OrderParameters,
  { quantity, left, second }: { quantity: bigint; left: bigint; second: bigint },
): bigint {
  const [duration, elapsed] = [endTime - startTime, second > startTime ? second - startTime : 0n];
  const amounts = offer.map(
    ({ startAmount, endAmount }) =>
      ((startAmount * (duration - elapsed) + endAmount * elapsed) * left) / (duration * quantity),
  );
  if (offer.some(({ endAmount }, place) => endAmount === 0n && amounts[place] === 0n))
    throw invalid("An amount that the order offers has come down to nothing. Expected one that is still something.");
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}
