import type { Sql } from "postgres";
import { toBytes } from "../sql/database.ts";
import { floorOf } from "./floor.ts";
import { type Moment, momentParameters } from "./trade-order.ts";

/** $1: contract. */
const FLOOR = `select ${floorOf("$1")} as floor`;

/**
 * Price now of a collection's cheapest token, in the smallest unit of the chain's currency; null if none is for sale.
 */
export async function findFloor(
  sql: Sql,
  { contractAddress, ...moment }: Moment & { contractAddress: string },
): Promise<string | null> {
  const parameters = [toBytes(contractAddress), ...momentParameters(moment)];
  const [row] = await sql.unsafe<[{ floor: string | null }]>(FLOOR, parameters, { prepare: true });
  return row.floor;
}
