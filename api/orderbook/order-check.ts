import type { Sql } from "postgres";
import { type Hex, zeroAddress } from "viem";
import { isNft, NATIVE_TYPE, type OrderParameters, type Terms } from "../../abis/seaport-order.ts";
import { invalid } from "../http/errors.ts";
import { toBytes } from "../sql/database.ts";
import { isShown } from "../token/contract.ts";
import type { OrderChain } from "./order-chain.ts";

/**
 * The exchange at which an order is filled, the address that moves its token or money, and the zone that must agree, if
 * one must.
 */
type Place = { exchange: Hex; operator: Hex; zone: Hex | undefined };

/**
 * Among how many of a contract's tokens one of an offer's standard is looked for, where the contract's first token is of
 * another: contracts with tokens of two standards have many of both.
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
  if (!known) throw unknown(terms);
  requireStandard(terms, known.standard);
}

const nameOf = ({ token_id, contract_address }: Terms) =>
  token_id === null ? `contract ${contract_address}` : `token ${token_id} of contract ${contract_address}`;

const unknown = (terms: Terms) => {
  const name = nameOf(terms);
  return invalid(`${name[0]!.toUpperCase()}${name.slice(1)} is unknown.`);
};

/**
 * Stores what a contract says of an approval that no log tells, so that the order is shown at once. `mover`: see
 * `moverOf`.
 *
 * @throws HttpError 400 where the maker doesn't hold the units that are left to sell, or the exchange may not move them
 */
export async function requireToken(
  sql: Sql,
  chain: OrderChain,
  { chainId, terms, left, mover, ...place }: Place & { chainId: number; terms: Terms; left: bigint; mover: Hex },
): Promise<void> {
  const [contract, owner] = [toBytes(terms.contract_address), toBytes(terms.maker)];
  const tokenId = String(terms.token_id);
  const [token] = await sql<{ head_block: string | null; held: string; is_approved: boolean | null }[]>`
    select
      (
        select network.head_block
        from network
        where network.name = 'mainnet'
      ) as head_block,
      case
        when token.standard <> 'ERC1155' then case when token.owner = ${owner} then 1 else 0 end
        else coalesce(
          (
            select ownership.balance
            from ownership
            where
              ownership.contract_address = token.contract_address
              and ownership.token_id = token.token_id
              and ownership.owner = ${owner}
          ),
          0
        )
      end as held,
      (
        select approval.is_approved
        from approval
        where
          approval.contract_address = token.contract_address
          and approval.owner = ${owner}
          and approval.operator = ${toBytes(mover)}
        order by
          approval.block_number desc,
          approval.log_index desc
        limit 1
      ) as is_approved
    from token
    where
      token.contract_address = ${contract}
      and token.token_id = ${tokenId}
  `;
  if (!token) throw unknown(terms);
  if (BigInt(token.held) < left)
    throw invalid(`The offerer holds ${token.held} of the token. Expected at least ${left}.`);
  const isApproved = await requirePlace(
    chain,
    { terms, ...place },
    token.is_approved === true ||
      chain.isApproved({
        contract: terms.contract_address,
        tokenId: terms.token_id!,
        owner: terms.maker,
        operator: mover,
      }),
  );
  if (isApproved === false || (isApproved === undefined && token.is_approved === false))
    throw invalid(`The token is not approved for ${mover}, through which the order would be filled.`);
  if (token.is_approved === true || isApproved !== true) return;
  // As the worker does, which may have been told otherwise before. The block is that of before the contract was asked, so
  // that whatever is indexed later counts as newer.
  await sql`
    insert into offchain.listing_approval ${sql({
      chain_id: chainId,
      contract_address: contract,
      token_id: tokenId,
      owner,
      operator: toBytes(mover),
      is_approved: true,
      block_number: token.head_block ?? "0",
    })}
    on conflict (chain_id, contract_address, token_id, owner, operator) do update
    set
      is_approved = excluded.is_approved,
      block_number = excluded.block_number,
      checked_at = now()
  `;
}

/** @throws HttpError 400 where somebody whom a listing pays in the chain's own currency doesn't take it */
export async function requireRecipients(
  chain: OrderChain,
  { order: { consideration }, exchange }: { order: OrderParameters; exchange: Hex },
): Promise<void> {
  const amounts = new Map<Hex, bigint>();
  for (const { itemType, recipient, startAmount, endAmount } of consideration) {
    // A payment that changes may begin with nothing.
    const amount = startAmount || endAmount;
    if (itemType === NATIVE_TYPE && amount > 0n) amounts.set(recipient, amount);
  }
  await Promise.all(
    [...amounts].map(async ([recipient, amount]) => {
      if ((await chain.takesNative(recipient, { exchange, amount })) !== false) return;
      throw invalid(`The recipient ${recipient} doesn't take the chain's own currency. Expected one that does.`);
    }),
  );
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

/**
 * What a bidder pays at a second for `left` of an offer's units. Each payment is rounded down by itself, as Seaport
 * does.
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
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

/** @throws HttpError 400 where the order names another standard than the token has: the exchange could not move it */
function requireStandard(terms: Terms, standard: string): void {
  if (terms.token_standard === standard) return;
  throw invalid(
    `The order's itemType is that of ${terms.token_standard}. Expected that of ${standard}, which ${nameOf(terms)} is.`,
  );
}

/**
 * Checks what every order needs on the chain, at the same time as `question`, whose answer is returned.
 *
 * @throws HttpError 400 where the exchange, the currency or the zone has no code, or the conduit no open channel to the
 *   exchange
 */
async function requirePlace<T>(
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
