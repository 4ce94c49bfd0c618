import type { Sql } from "postgres";
import { type Hex, zeroAddress } from "viem";
import { fundsCalls, readFunds } from "../chain/allowance.ts";
import type { ReadCalls } from "../chain/call.ts";

/**
 * Reads what bidders can pay: their balance in an offer's currency, as far as the offer's operator may take it. It is
 * read again and again while an offer stands, because token logs have neither.
 */

/** How old an answer may become, in seconds: a block of mainnet. */
const FRESH_SECONDS = 12;
/** How many bidders are asked for at once, with two calls each. */
const BATCH_SIZE = 500;

type Bidder = { currency: Hex; maker: Hex; operator: Hex };

/** Reads the funds of bidders whose answers are too old, up to `BATCH_SIZE`. Returns of how many it was told. */
export async function readOfferFunds(
  sql: Sql,
  { network, chainId, readCalls }: { network: string; chainId: number; readCalls: ReadCalls },
): Promise<number> {
  await forgetBidders(sql, { network, chainId });
  const bidders = await listDueBidders(sql, { network, chainId });
  if (bidders.length === 0) return 0;
  const answers = await readCalls(bidders.flatMap(({ maker, ...bidder }) => fundsCalls({ ...bidder, owner: maker })));
  // A fault of the node says nothing about the bidder: the last answer stands.
  const read = bidders.map((bidder, index) => ({
    ...bidder,
    spendable: readFunds(answers.slice(2 * index, 2 * index + 2)),
  }));
  // Who wasn't told of waits for the next turn too: else a currency that takes long keeps everybody else from theirs.
  await sql`
    insert into offchain.offer_funds (chain_id, currency_address, maker, operator, spendable)
    select
      ${chainId},
      decode(currency, 'hex'),
      decode(maker, 'hex'),
      decode(operator, 'hex'),
      spendable
    from unnest(
      ${read.map(({ currency }) => currency.slice(2))}::text[],
      ${read.map(({ maker }) => maker.slice(2))}::text[],
      ${read.map(({ operator }) => operator.slice(2))}::text[],
      ${read.map(({ spendable }) => spendable?.toString() ?? null)}::numeric[]
    ) as read (currency, maker, operator, spendable)
    on conflict (chain_id, currency_address, maker, operator) do update
    set
      spendable = coalesce(excluded.spendable, offer_funds.spendable),
      checked_at = now()
  `;
  const known = read.filter(({ spendable }) => spendable !== undefined);
  if (known.length === 0) throw new Error("The node doesn't tell what bidders can pay.");
  return known.length;
}

/**
 * The bidders who are due: those with the oldest answers first, last those with a time in the future, which is from
 * before the clock was set back.
 */
const dueBidders = (sql: Sql, chainId: number) => sql`
  select
    currency_address,
    maker,
    operator,
    checked_at
  from offchain.offer_funds
  where
    chain_id = ${chainId}
    and (
      checked_at < now() - ${FRESH_SECONDS} * interval '1 second'
      or checked_at > now() + ${FRESH_SECONDS} * interval '1 second'
    )
  order by checked_at
  limit ${BATCH_SIZE}
`;

/**
 * Deletes due bidders without an offer that still stands. A new offer makes its bidder due later than this, so he is
 * kept.
 */
async function forgetBidders(sql: Sql, { network, chainId }: { network: string; chainId: number }): Promise<void> {
  const isOfBidder = sql`
    side = 'offer'
    and maker = due.maker
    and currency_address = due.currency_address
    and operator = due.operator
    and end_time > extract(epoch from now())
  `;
  await sql`
    with due as materialized (${dueBidders(sql, chainId)})
    delete from offchain.offer_funds
    using due
    where
      offer_funds.chain_id = ${chainId}
      and offer_funds.currency_address = due.currency_address
      and offer_funds.maker = due.maker
      and offer_funds.operator = due.operator
      and offer_funds.checked_at = due.checked_at
      and not exists (
        select
        from offchain.signed_order
        where
          chain_id = ${chainId}
          and ${isOfBidder}
      )
      and not exists (
        select
        from ${sql(`onchain_${network}.trade_order`)}
        where
          is_open
          and ${isOfBidder}
      )
  `;
}

/**
 * Due bidders: those never asked for first, then those with the oldest answers. A signed offer has made its bidder due
 * when it was sent; bidders with offers on the chain are looked up here. Offers in the chain's own currency are left
 * out, because they are paid when they are made.
 */
async function listDueBidders(sql: Sql, { network, chainId }: { network: string; chainId: number }): Promise<Bidder[]> {
  return sql<Bidder[]>`
    select
      '0x' || encode(bidder.currency_address, 'hex') as currency,
      '0x' || encode(bidder.maker, 'hex') as maker,
      '0x' || encode(bidder.operator, 'hex') as operator
    from (
      (${dueBidders(sql, chainId)})
      union all
      select distinct
        currency_address,
        maker,
        operator,
        '-infinity'::timestamptz as checked_at
      from ${sql(`onchain_${network}.trade_order`)}
      where
        is_open
        and side = 'offer'
        and end_time > extract(epoch from now())
        and operator is not null
        and currency_address <> decode(${zeroAddress.slice(2)}, 'hex')
        and not exists (
          select
          from offchain.offer_funds
          where
            offer_funds.chain_id = ${chainId}
            and offer_funds.currency_address = trade_order.currency_address
            and offer_funds.maker = trade_order.maker
            and offer_funds.operator = trade_order.operator
        )
    ) as bidder
    order by bidder.checked_at
    limit ${BATCH_SIZE}
  `;
}
