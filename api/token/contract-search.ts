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
  const letters = Array.from(text.slice(0, MAX_TEXT_LENGTH).replaceAll("\0", ""), toLower);
  const wanted = letters.join("");
  if (wanted === "") return [];
  const others = [...new Set(letters)].filter((letter) => letter > "\x7F");
  const lower = (column: string) => {
    const lowered = sql`lower(${sql(column)} collate "C")`;
    if (others.length === 0) return lowered;
    const [from, to] = [others.map(toUpper).join(""), others.join("")];
    // What has none of these letters can't be found, and most names are ASCII.
    return sql`case when octet_length(${sql(column)}) > length(${sql(column)}) then translate(${lowered}, ${from}, ${to}) end`;
  };
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
          else least(strpos(${lower("named.name")}, ${wanted}), 2)
        end as place
      from contract_metadata as named
      where
        named.chain_id = ${chainId}
        and (strpos(${lower("named.name")}, ${wanted}) > 0 or ${lower("named.symbol")} = ${wanted})
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

// What Postgres' `lower` takes for letters is up to the database's collation: in "C" A to Z alone, in Turkish not I. Other
// letters of the wanted text are told by us, and no more of them: to translate A to Z too took 20 times as long. One
// letter stands for one: ß has two as its capitals.
const toLower = (letter: string) => onlyOne(letter.toLowerCase()) ?? letter;
const toUpper = (letter: string) => onlyOne(letter.toUpperCase()) ?? letter;
const onlyOne = (text: string) => (Array.from(text).length === 1 ? text : undefined);
