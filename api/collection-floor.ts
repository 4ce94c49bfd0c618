import type { Sql } from "postgres";
import { toBytes } from "./database.ts";
import { floorOf } from "./floor.ts";
import type { Moment } from "./trade-order.ts";

/** What the cheapest token of a collection costs now, in the smallest unit of the chain's currency; null for nothing. */
export async function findFloor(
  sql: Sql,
  { contractAddress, ...moment }: Moment & { contractAddress: string },
): Promise<string | null> {
  const [row] = await sql<[{ floor: string | null }]>`
    select ${floorOf(sql, { ...moment, contractAddress: sql`asked.contract_address` })} as floor
    from (select ${toBytes(contractAddress)}::bytea as contract_address) as asked
  `;
  return row.floor;
}
