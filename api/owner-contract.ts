import type { Fragment, Sql } from "postgres";
import { type Contract, contractType, isShown, joinContract } from "./contract.ts";
import { toBytes } from "./database.ts";
import { ZERO_ADDRESS } from "./holding.ts";

/**
 * Contracts of which an account holds at least one token, by address.
 *
 * Each step jumps to the next contract behind the last, so that 100,000 tokens of one contract cost two look-ups.
 */
export async function listOwnerContracts(
  sql: Sql,
  {
    chainId,
    accountAddress,
    after,
    limit,
  }: { chainId: number; accountAddress: string; after: string | undefined; limit: number },
): Promise<Contract[]> {
  if (accountAddress === ZERO_ADDRESS) return [];
  const account = toBytes(accountAddress);
  /** The first contract behind `place` on one side. */
  const next = (table: Fragment, condition: Fragment, place: Fragment): Fragment => sql`
    (
      select ${table}.contract_address
      from ${table}
      where
        (${table}.owner, ${table}.contract_address) > (${account}, ${place})
        and ${table}.owner <= ${account}
        ${condition}
      order by
        ${table}.owner,
        ${table}.contract_address
      limit 1
    )
  `;
  const nextOfBoth = (place: Fragment): Fragment => sql`
    least(
      ${next(sql`token`, sql``, place)},
      ${next(sql`ownership`, sql`and ownership.balance > 0`, place)}
    )
  `;
  const shown = (address: Fragment): Fragment => isShown(sql, { chainId, contractAddress: address });
  return sql<Contract[]>`
    with recursive start as (
      select ${after === undefined ? Buffer.alloc(0) : toBytes(after)}::bytea as place
    ),
    held as (
      select
        first.contract_address,
        ${shown(sql`first.contract_address`)} as is_shown,
        (${shown(sql`first.contract_address`)})::integer as place
      from (select ${nextOfBoth(sql`start.place`)} as contract_address from start offset 0) as first
      where first.contract_address is not null
      union all
      select
        following.contract_address,
        ${shown(sql`following.contract_address`)},
        following.place + (${shown(sql`following.contract_address`)})::integer
      from (
        select
          ${nextOfBoth(sql`held.contract_address`)} as contract_address,
          held.place
        from held
        where held.place < ${limit}
        offset 0
      ) as following
      where following.contract_address is not null
    )
    select
      '0x' || encode(contract.contract_address, 'hex') as contract_address,
      ${contractType(sql)} as contract_type,
      coalesce(contract_metadata.name, '') as name,
      coalesce(contract_metadata.symbol, '') as symbol,
      contract_metadata.image
    from held
    ${joinContract(sql, { chainId, page: "held" })}
    where held.is_shown
    order by held.contract_address
  `;
}
