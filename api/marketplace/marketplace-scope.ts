import type { Sql } from "postgres";
import { toBytes } from "../../offchain/bytea.ts";
import type { Parameter } from "../sql/database.ts";
import { CHAIN, type Moment, momentParameters } from "../orderbook/trade-order.ts";
import { isShownText } from "../token/contract.ts";
import { ZERO_LITERAL } from "../token/holding.ts";

/**
 * The tokens that a list is of: those of a collection that somebody holds, or an account's, all or of one collection.
 */
export type Scope = Moment & { contractAddress?: string | undefined; accountAddress?: string | undefined };

/** A scope in SQL: the parameters that hold its addresses. */
export type ScopeNames = { contract?: string; account?: string };

/** A scope in statements over orders: $1 is the account or the contract, $4 the contract where $1 is the account. */
export function namesOf({ contractAddress, accountAddress }: Scope): ScopeNames {
  if (accountAddress === undefined) return { contract: "$1::bytea" };
  return { account: "$1::bytea", ...(contractAddress !== undefined && { contract: "$4::bytea" }) };
}

/** Parameters of statements that use `namesOf`. */
export const scopeParameters = ({ contractAddress, accountAddress, ...moment }: Scope): Parameter[] => [
  toBytes((accountAddress ?? contractAddress) as string),
  ...momentParameters(moment),
  ...(accountAddress !== undefined && contractAddress !== undefined ? [toBytes(contractAddress)] : []),
];

/** SQL of the scope's tokens: those that somebody holds, or that the account holds. */
export function held({ contract, account }: ScopeNames): string {
  if (account === undefined) {
    return `
      select
        token.contract_address,
        token.token_id
      from token
      where
        token.contract_address = ${contract}
        and ${IS_HELD}
    `;
  }
  const side = (table: string, condition: string) => `
    select
      ${table}.contract_address,
      ${table}.token_id
    from ${table}
    where
      ${table}.owner = ${account}
      ${contract === undefined ? "" : `and ${table}.contract_address = ${contract}`}
      and ${condition}
      and ${isShownText({ chainId: CHAIN, contractAddress: `${table}.contract_address` })}
  `;
  return `
    ${side("token", `token.owner <> ${ZERO_LITERAL}`)}
    union all
    ${side("ownership", "ownership.balance > 0")}
  `;
}

/**
 * Whether anybody holds a token. Burned ones belong to the zero address. `limit 1` instead of `exists`, for which the
 * planner would build a hash of everything that anybody holds.
 */
export const IS_HELD = `
  token.owner is distinct from ${ZERO_LITERAL}
  and (
    token.owner is not null
    or (
      select true
      from ownership
      where
        ownership.contract_address = token.contract_address
        and ownership.token_id = token.token_id
        and ownership.balance > 0
      limit 1
    ) is true
  )
`;

/**
 * How many tokens are read to make a list of the scope, at most `most`. Burned tokens and those of hidden contracts
 * count, too: anybody can make and give away a million of them with a hundred logs.
 */
export async function countSeen(
  sql: Sql,
  { contractAddress, accountAddress }: Scope,
  { most }: { most: number },
): Promise<number> {
  const ofContract = (place: string) => (contractAddress === undefined ? "" : `and contract_address = ${place}`);
  const rows =
    accountAddress === undefined
      ? `select from token where contract_address = $1 limit ${most}`
      : `
        (select from token where owner = $1 ${ofContract("$2")} limit ${most})
        union all
        (select from ownership where owner = $1 ${ofContract("$2")} and balance > 0 limit ${most})
      `;
  const addresses = [accountAddress, contractAddress].filter((address) => address !== undefined);
  const [row] = await sql.unsafe<{ count: number }[]>(
    `select count(*)::int as count from (${rows}) as seen`,
    addresses.map(toBytes),
    { prepare: true },
  );
  return row?.count ?? 0;
}
