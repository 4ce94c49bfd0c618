import type { Sql } from "postgres";
import type { Network } from "../../config.ts";
import { type Contract, contractColumns, joinContract } from "./contract.ts";

const MAX_TEXT_LENGTH = 100;

/**
 * Finds contracts whose name or symbol contains a text, in any case. Verified collections come first, because copies
 * have the same names, then those that begin with the text. It goes through the names of all contracts, 10 ms for
 * 20,000: callers must limit how often it runs at once.
 */
export async function findContractsByName(
  sql: Sql,
  { network, chainId, text, limit }: { network: Network; chainId: number; text: string; limit: number },
): Promise<Contract[]> {
  const wanted = text.slice(0, MAX_TEXT_LENGTH).replaceAll("\0", "").toLowerCase();
  if (wanted === "") return [];
  return sql<Contract[]>`
    with page as materialized (
      select
        named.contract_address,
        named.name,
        case
          when ${network === "mainnet"} and exists (
            select
            from verified_collection
            where verified_collection.contract_address = named.contract_address
          ) then -1
          else least(strpos(lower(named.name), ${wanted}), 2)
        end as place
      from contract_metadata as named
      where
        named.chain_id = ${chainId}
        and (strpos(lower(named.name), ${wanted}) > 0 or lower(named.symbol) = ${wanted})
        and named.is_fungible is not true
      order by
        place,
        named.name,
        named.contract_address
      limit ${limit}
    )
    select ${contractColumns(sql)}
    from page
    ${joinContract(sql, { chainId, page: "page" })}
    order by
      page.place,
      page.name,
      page.contract_address
  `;
}
