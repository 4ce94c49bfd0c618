import type { Sql } from "postgres";
import { type Hex, zeroAddress } from "viem";
import { toBytes } from "../../offchain/bytea.ts";
import type { Terms } from "../../abis/seaport-order.ts";
import { invalid } from "../http/errors.ts";
import { isShown } from "../token/contract.ts";
import type { OrderChain } from "./order-chain.ts";

/**
 * The exchange at which an order is filled, the address that moves its token or money, and the zone that must agree, if
 * one must.
 */
export type Place = { exchange: Hex; operator: Hex; zone: Hex | undefined };

/**
 * How many of a contract's tokens are looked through for one of the offer's standard, where the contract itself is of
 * another one: contracts with tokens of two standards have many of both.
 */
const MAX_LOOKED_AT = 10_000;

/** @throws HttpError 400 where the order's token or contract is not indexed, or hidden, or is of another standard */
export async function requireKnown(sql: Sql, { chainId, terms }: { chainId: number; terms: Terms }): Promise<void> {
  const contract = toBytes(terms.contract_address);
  const [known] =
    terms.token_id === null
      ? await sql<{ standard: string }[]>`
          select
            case
              when contract_type = ${terms.token_standard} then contract_type
              else coalesce(
                (
                  select one.standard
                  from (
                    select token.standard
                    from token
                    where token.contract_address = contract.contract_address
                    order by token.token_id
                    limit ${MAX_LOOKED_AT}
                  ) as one
                  where one.standard = ${terms.token_standard}
                  limit 1
                ),
                contract_type
              )
            end as standard
          from contract
          where
            contract_address = ${contract}
            and ${isShown(sql, { chainId, contractAddress: "contract.contract_address" })}
        `
      : await sql<{ standard: string }[]>`
          select standard
          from token
          where
            contract_address = ${contract}
            and token_id = ${terms.token_id.toString()}
            and ${isShown(sql, { chainId, contractAddress: "token.contract_address" })}
        `;
  if (!known) throw notKnown(terms);
  requireStandard(terms, known.standard);
}

/**
 * Checks what every order needs on the chain, at the same time as `question`, whose answer is returned.
 *
 * @throws HttpError 400 where the exchange, the currency or the zone has no code, or the conduit no open channel to the
 *   exchange
 */
export async function requirePlace<T>(
  chain: OrderChain,
  { terms: { currency_address: currency }, exchange, operator, zone }: Place & { terms: Terms },
  question: T | Promise<T>,
): Promise<T> {
  const [answer, isThere, hasChannel, isCurrency, isZone] = await Promise.all([
    question,
    chain.hasCode(exchange),
    operator === exchange || chain.hasChannel(operator, exchange),
    currency === zeroAddress || chain.hasCode(currency),
    zone === undefined || chain.hasCode(zone),
  ]);
  if (!isThere)
    throw invalid(
      `The order is for exchange ${exchange}, which has no code on this chain. Expected one that is there.`,
    );
  if (hasChannel === false)
    throw invalid(`The conduit of the order's conduitKey, ${operator}, has no open channel to exchange ${exchange}.`);
  if (!isCurrency) throw invalid(`Currency ${currency} has no code on this chain. Expected that of a token.`);
  // The exchange asks the zone about each fill but its own.
  if (!isZone)
    throw invalid(
      `The order's zone is ${zone}, which has no code on this chain, so that nobody else could fill it. Expected a contract, or an orderType of 0 or 1.`,
    );
  return answer;
}

/** The error of a token or contract that is not indexed. */
export const notKnown = (terms: Terms) => {
  const name = nameOf(terms);
  return invalid(`${name[0]!.toUpperCase()}${name.slice(1)} is unknown.`);
};

/** @throws HttpError 400 where the order names another standard than the token has: the exchange could not move it */
function requireStandard(terms: Terms, standard: string): void {
  if (terms.token_standard === standard) return;
  throw invalid(
    `The order's itemType is that of ${terms.token_standard}. Expected that of ${standard}, which ${nameOf(terms)} is.`,
  );
}

const nameOf = ({ token_id, contract_address }: Terms) =>
  token_id === null ? `contract ${contract_address}` : `token ${token_id} of contract ${contract_address}`;
