import type { Fragment, Sql } from "postgres";
import type { Hex } from "viem";
import { ZORA_ADDRESSES } from "../../abis/zora.ts";
import { toBytes } from "../bytea.ts";
import { approvalCalls, readApproval } from "../chain/allowance.ts";
import type { ReadCalls } from "../chain/call.ts";
import { findHeadBlock } from "../network.ts";

/**
 * Checks whether listed tokens may be transferred, where the indexed approvals for all tokens of an owner don't say so.
 * Approvals of single tokens aren't indexed: every fungible token logs the same topic, and some contracts log it with
 * each transfer. Nor do the logs say whether a seller at Zora lets its module act where somebody else asks for them.
 */

/** How many listings are checked in one step. Those whose approval is indexed cost no call. */
const STEP = 1000;
/** Answers for listings that have ended are deleted after so many hours. */
const KEEP_HOURS = 24;

type Listing = { contract: Hex; token_id: string; owner: Hex; operator: Hex };
/** The last listing that was checked. */
export type ListingPlace = Listing;

/**
 * Checks some listings after `after`, in the order of their tokens, signed ones and those on the chain. Returns the
 * last of them, or undefined where there are no more: then the next call begins anew.
 */
export async function readListingApprovals(
  sql: Sql,
  {
    network,
    chainId,
    readCalls,
    after,
  }: { network: string; chainId: number; readCalls: ReadCalls; after: ListingPlace | undefined },
): Promise<ListingPlace | undefined> {
  // Before anything is asked, so that whatever happens later counts as newer than the answers.
  const block = await findHeadBlock(sql, { network });
  const { listings, last } = await listListings(sql, { network, chainId, after });
  if (listings.length > 0) {
    const questions = listings.map(({ token_id, ...listing }) =>
      approvalCalls({ ...listing, tokenId: BigInt(token_id) }),
    );
    const answers = await readCalls(questions.flat());
    const known = listings.flatMap((listing, index) => {
      const isApproved = readApproval(answers.splice(0, questions[index]!.length), listing);
      return isApproved === undefined ? [] : [{ ...listing, isApproved }];
    });
    await storeApprovals(sql, { chainId, block, known });
  }
  return last;
}

/**
 * One listing for each token, maker and operator, even where several orders have the same. A seller at a module of Zora's
 * is listed with the module, too: see `TokenToMove`.
 */
async function listListings(
  sql: Sql,
  { network, chainId, after }: { network: string; chainId: number; after: ListingPlace | undefined },
): Promise<{ listings: Listing[]; last: ListingPlace | undefined }> {
  const { contract = "0x", token_id = "-1", owner = "0x", operator = "0x" } = after ?? {};
  const key = sql`contract_address, token_id, maker, operator`;
  const some = (table: Fragment, condition: Fragment) => sql`
    (
      select
        ${key},
        max(end_time) as end_time
      from ${table}
      where
        ${condition}
        and side = 'listing'
        and operator is not null
      group by ${key}
      order by ${key}
      limit ${STEP}
    )
  `;
  // Of the same contract and of those behind it apart, because the planner judges a comparison of rows by its first column.
  // Behind the last contract it expects no rows, and it read and sorted all that were left of it: a second for 400,000.
  const listingsOf = (table: Fragment, condition: Fragment) => sql`
    ${some(
      table,
      sql`
        ${condition}
        and contract_address = ${toBytes(contract)}
        and (token_id, maker, operator) > (${token_id}::numeric, ${toBytes(owner)}, ${toBytes(operator)})
      `,
    )}
    union all
    ${some(table, sql`${condition} and contract_address > ${toBytes(contract)}`)}
  `;
  const orders = sql`${sql(`onchain_${network}.trade_order`)}`;
  const asks = sql`
    (
      select
        exchange_address as contract_address,
        0::numeric as token_id,
        maker,
        exchange_address as operator,
        side,
        is_open,
        end_time
      from ${orders}
      where exchange_address in ${sql(ZORA_ADDRESSES.map(toBytes))}
    ) as ask
  `;
  const statement = sql`
    with listing as materialized (
      select
        ${key},
        max(end_time) as end_time
      from (
        ${listingsOf(orders, sql`is_open`)}
        union all
        ${listingsOf(asks, sql`is_open`)}
        union all
        ${listingsOf(sql`offchain.signed_order`, sql`chain_id = ${chainId}`)}
      ) as found
      group by ${key}
      order by ${key}
      limit ${STEP}
    )
    select
      '0x' || encode(listing.contract_address, 'hex') as contract,
      listing.token_id,
      '0x' || encode(listing.maker, 'hex') as owner,
      '0x' || encode(listing.operator, 'hex') as operator,
      listing.end_time <= extract(epoch from now()) as is_over,
      coalesce(
        (
          select approval.is_approved
          from ${sql(`onchain_${network}.approval`)} as approval
          where
            approval.contract_address = listing.contract_address
            and approval.owner = listing.maker
            and approval.operator = listing.operator
          order by
            approval.block_number desc,
            approval.log_index desc
          limit 1
        ),
        false
      ) as is_known
    from listing
    order by
      listing.contract_address,
      listing.token_id,
      listing.maker,
      listing.operator
  `;
  const rows = await sql.begin("read only", async (tx) => {
    // A plan for any contract expects few listings of each, and sorts them all.
    await tx`set local plan_cache_mode = force_custom_plan`;
    return tx<(Listing & { is_known: boolean; is_over: boolean })[]>`${statement}`;
  });
  return {
    listings: rows.filter(({ is_known, is_over }) => !is_known && !is_over),
    last: rows.length < STEP ? undefined : rows.at(-1),
  };
}

async function storeApprovals(
  sql: Sql,
  { chainId, block, known }: { chainId: number; block: string; known: (Listing & { isApproved: boolean })[] },
): Promise<void> {
  await sql`
    insert into offchain.listing_approval
      (chain_id, contract_address, token_id, owner, operator, is_approved, block_number)
    select
      ${chainId},
      decode(contract, 'hex'),
      token_id,
      decode(owner, 'hex'),
      decode(operator, 'hex'),
      is_approved::boolean,
      ${block}
    from unnest(
      ${known.map(({ contract }) => contract.slice(2))}::text[],
      ${known.map(({ token_id }) => token_id)}::numeric[],
      ${known.map(({ owner }) => owner.slice(2))}::text[],
      ${known.map(({ operator }) => operator.slice(2))}::text[],
      ${known.map(({ isApproved }) => String(isApproved))}::text[]
    ) as known (contract, token_id, owner, operator, is_approved)
    on conflict (chain_id, contract_address, token_id, owner, operator) do update
    set
      is_approved = excluded.is_approved,
      block_number = excluded.block_number,
      checked_at = now()
  `;
  await sql`
    delete from offchain.listing_approval
    where
      chain_id = ${chainId}
      and checked_at < now() - ${KEEP_HOURS} * interval '1 hour'
  `;
}
