import type { Sql } from "postgres";
import type { Hex } from "viem";
import type { Terms } from "../../abis/seaport-order.ts";
import { invalid } from "../http/errors.ts";
import { toBytes } from "../sql/database.ts";
import { isNative } from "./native-currency.ts";
import { CHAIN, type Condition, type Moment, momentParameters, NOW } from "./trade-order.ts";

/*
 * Signing costs nothing, and every order that stands for a token is looked at when somebody asks for its best one. So only
 * so many are taken for the same thing: more than anybody means, fewer than anybody waits for.
 */

/** Of one maker for one token, or for any token of a contract. */
const MAX_OF_MAKER = 100;
/** Of all in currencies that aren't the chain's own: whoever makes one up can sign as many bidders as they like. */
const MAX_IN_CURRENCY = 1000;

/** Orders of `condition` that stand for the same as the one that is sent, up to `most`. */
const count = (matches: Condition, condition: string, most: number) => `
  (
    select count(*)::int
    from (
      select
      from signed_order
      where
        signed_order.chain_id = ${CHAIN}
        and signed_order.contract_address = $1
        and ${matches("signed_order")}
        and signed_order.side = $5
        and signed_order.end_time > ${NOW}
        and signed_order.order_hash <> $6
        and ${condition}
      limit ${most}
    ) as one
  )
`;

/** $1: contract, $4: token id, null for any, $5: side, $6: hash, $7: maker, $8: currency. */
const roomOf = (matches: Condition) => `
  select
    ${count(matches, "signed_order.maker = $7", MAX_OF_MAKER)} as of_maker,
    ${count(
      matches,
      `signed_order.side = 'offer' and signed_order.currency_address = $8 and not ${isNative("signed_order")}`,
      MAX_IN_CURRENCY,
    )} as in_currency
`;
const ROOM_FOR_TOKEN = roomOf((table) => `${table}.token_id = $4::numeric`);
const ROOM_FOR_ANY = roomOf((table) => `${table}.token_id is null and $4::numeric is null`);

/** @throws HttpError 400 where too many orders of the maker, or in the currency, stand for the same */
export async function requireRoom(
  sql: Sql,
  { terms, orderHash, ...moment }: Moment & { terms: Terms; orderHash: Hex },
): Promise<void> {
  const { side, maker, currency_address: currency, contract_address, token_id } = terms;
  const [row] = await sql.unsafe<{ of_maker: number; in_currency: number }[]>(
    token_id === null ? ROOM_FOR_ANY : ROOM_FOR_TOKEN,
    [
      toBytes(contract_address),
      ...momentParameters(moment),
      token_id === null ? null : token_id.toString(),
      side,
      toBytes(orderHash),
      toBytes(maker),
      toBytes(currency),
    ],
    { prepare: true },
  );
  const what = token_id === null ? "any token of the contract" : `token ${token_id}`;
  if (row!.of_maker >= MAX_OF_MAKER)
    throw invalid(`${MAX_OF_MAKER} orders of the offerer stand for ${what} already. Expected fewer.`);
  if (row!.in_currency >= MAX_IN_CURRENCY)
    throw invalid(`${MAX_IN_CURRENCY} offers in ${currency} stand for ${what} already. Expected fewer.`);
}
