import type { Sql } from "postgres";
import { type Hex, zeroAddress } from "viem";
import { fundsCalls, readFunds } from "./chain/allowance.ts";
import type { ReadCalls } from "./chain/call.ts";

/**
 * What bidders can pay: their balance of an offer's currency, and what they let its operator take. Asked again and again
 * while an offer stands, because neither is in the logs of tokens.
 */

/** How old an answer may be, in seconds: a block of mainnet. */
const FRESH_SECONDS = 12;
/** Bidders asked for in one reading: two calls each. */
const BATCH_SIZE = 500;
/** Bidders without an offer that stands are forgotten after a day. */
const KEEP_HOURS = 24;

type Bidder = { currency: Hex; maker: Hex; operator: Hex };

/** Asks for bidders whose funds were not asked for of late, as many as one reading takes. Returns how many. */
export async function readOfferFunds(
  sql: Sql,
  { network, chainId, readCalls }: { network: string; chainId: number; readCalls: ReadCalls },
): Promise<number> {
  const bidders = await listDueBidders(sql, { network, chainId });
  if (bidders.length === 0) return 0;
  const answers = await readCalls(bidders.flatMap(({ maker, ...bidder }) => fundsCalls({ ...bidder, owner: maker })));
  const known = bidders.flatMap((bidder, index) => {
    const spendable = readFunds(answers.slice(2 * index, 2 * index + 2));
    // A node that fails says nothing about the bidder: what was known still is.
    return spendable === undefined ? [] : [{ ...bidder, spendable }];
  });
  if (known.length === 0) throw new Error("The node doesn't tell what bidders can pay.");
  await sql`
    insert into offchain.offer_funds (chain_id, currency_address, maker, operator, spendable)
    select
      ${chainId},
      decode(currency, 'hex'),
      decode(maker, 'hex'),
      decode(operator, 'hex'),
      spendable
    from unnest(
      ${known.map(({ currency }) => currency.slice(2))}::text[],
      ${known.map(({ maker }) => maker.slice(2))}::text[],
      ${known.map(({ operator }) => operator.slice(2))}::text[],
      ${known.map(({ spendable }) => spendable.toString())}::numeric[]
    ) as known (currency, maker, operator, spendable)
    on conflict (chain_id, currency_address, maker, operator) do update
    set
      spendable = excluded.spendable,
      checked_at = now()
  `;
  await sql`
    delete from offchain.offer_funds
    where
      chain_id = ${chainId}
      and checked_at < now() - ${KEEP_HOURS} * interval '1 hour'
  `;
  return known.length;
}

/** Those asked for longest ago first. Offers in the chain's own currency are paid when they are made. */
async function listDueBidders(sql: Sql, { network, chainId }: { network: string; chainId: number }): Promise<Bidder[]> {
  return sql<Bidder[]>`
    select
      '0x' || encode(bidder.currency_address, 'hex') as currency,
      '0x' || encode(bidder.maker, 'hex') as maker,
      '0x' || encode(bidder.operator, 'hex') as operator
    from (
      select
        currency_address,
        maker,
        operator
      from ${sql(`onchain_${network}.trade_order`)}
      where
        is_open
        and side = 'offer'
        and end_time > extract(epoch from now())
        and operator is not null
      union
      select
        currency_address,
        maker,
        operator
      from offchain.signed_order
      where
        chain_id = ${chainId}
        and side = 'offer'
        and end_time > extract(epoch from now())
    ) as bidder
    left join offchain.offer_funds
      on offer_funds.chain_id = ${chainId}
      and offer_funds.currency_address = bidder.currency_address
      and offer_funds.maker = bidder.maker
      and offer_funds.operator = bidder.operator
    where
      bidder.currency_address <> decode(${zeroAddress.slice(2)}, 'hex')
      and (
        offer_funds.checked_at is null
        or offer_funds.checked_at < now() - ${FRESH_SECONDS} * interval '1 second'
      )
    order by offer_funds.checked_at nulls first
    limit ${BATCH_SIZE}
  `;
}
