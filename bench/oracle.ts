import type { Sql } from "postgres";
import type { Expected } from "./chain.ts";
import { WrongResultError } from "./figure.ts";

/**
 * Queries that bring a system's tables into the canonical form of the generated chain: one text a row, its columns
 * joined by "|", addresses in lower case, numbers in decimal.
 */
export type CanonicalQueries = Record<keyof Expected, string>;

/** Tables with hex as text and a row of `ownership` for every holder: the lower bound and plain Ponder. */
export function plainQueries(schemaName: string): CanonicalQueries {
  const row = (columns: string, table: string) =>
    `select concat_ws('|', ${columns}) as row from "${schemaName}".${table}`;
  return {
    event: row("block_number, log_index, batch_index, contract, token_id, from_address, to_address, amount", "event"),
    token: row("contract, token_id, coalesce(owner, ''), supply", "token"),
    ownership: `${row("contract, token_id, owner, balance", "ownership")} where balance > 0`,
    contract: row("address, standard, transfers", "contract"),
  };
}

/** Our own tables: see `ponder.schema.ts`. Supplies and numbers of transfers are not kept, so they are counted. */
export function ownQueries(schemaName: string): CanonicalQueries {
  const table = (name: string) => `"${schemaName}".${name}`;
  const hex = (column: string) => `'0x' || encode(${column}, 'hex')`;
  const zeroAddress = `0x${"0".repeat(40)}`;
  return {
    event: `
      select concat_ws(
        '|', block_number, log_index, batch_index, ${hex("contract_address")}, token_id, ${hex("from_address")},
        ${hex("to_address")}, quantity
      ) as row
      from ${table("token_event")}
      where event_type <> 'sale'`,
    token: `
      select concat_ws(
        '|', ${hex("contract_address")}, token_id,
        case standard when 'ERC721' then coalesce(${hex("owner")}, '${zeroAddress}') else '' end,
        case
          when standard <> 'ERC721' then coalesce(supply, 0)
          when ${hex("owner")} <> '${zeroAddress}' then 1
          else 0
        end
      ) as row
      from ${table("token")}
      left join (
        select contract_address, token_id, sum(balance) as supply
        from ${table("ownership")}
        group by contract_address, token_id
      ) as held using (contract_address, token_id)`,
    ownership: `
      select concat_ws('|', ${hex("contract_address")}, token_id, ${hex("owner")}, balance) as row
      from ${table("ownership")}
      where balance > 0
      union all
      select concat_ws('|', ${hex("contract_address")}, token_id, ${hex("owner")}, 1) as row
      from ${table("token")}
      where owner is not null and ${hex("owner")} <> '${zeroAddress}'`,
    contract: `
      select concat_ws('|', ${hex("contract_address")}, contract_type, transfers) as row
      from ${table("contract")}
      join (
        select contract_address, count(*) as transfers
        from ${table("token_event")}
        where event_type <> 'sale'
        group by contract_address
      ) as counted using (contract_address)`,
  };
}

/**
 * Compares row counts and checksums of all four tables with what the generator says. A sum adds up the first 32 bits of
 * each row's md5.
 *
 * @throws WrongResultError that names the tables which differ
 */
export async function verify(
  sql: Sql,
  { name, queries, expected }: { name: string; queries: CanonicalQueries; expected: Expected },
): Promise<void> {
  const problems: string[] = [];
  for (const table of ["event", "token", "ownership", "contract"] as const) {
    const [found] = await sql.unsafe<{ rows: string; sum: string | null }[]>(`
      select
        count(*) as rows,
        sum(('x' || substr(md5(row), 1, 8))::bit(32)::bigint) as sum
      from (${queries[table]}) as canonical
    `);
    const { rows, sum } = expected[table];
    if (Number(found?.rows) === rows && found?.sum === sum) continue;
    problems.push(`${table} has ${found?.rows} rows, sum ${found?.sum}, expected ${rows}, sum ${sum}`);
  }
  if (problems.length > 0) throw new WrongResultError(`${name} is wrong: ${problems.join("; ")}.`);
}
