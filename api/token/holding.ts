import type { Sql } from "postgres";
import { zeroAddress } from "viem";
import { toBytes } from "../../offchain/bytea.ts";
import { joinContractMetadataText } from "./contract.ts";
import { BEFORE_ANY_ADDRESS, type Parameter } from "../sql/database.ts";
import { joinToken } from "./token.ts";

/** Which of an account's tokens to list, and how many. */
export type HoldingsOptions = {
  chainId: number;
  accountAddress: string;
  contractAddress?: string | undefined;
  after: [contractAddress: string, tokenId: string] | undefined;
  limit: number;
};

/** SQL of a place in the order of an account's tokens. */
type Place = { address: string; id: string };
type Bounds = (place: Place) => (table: string) => string;

/** After all tokens of a contract: ids have at most 78 digits. */
const BEHIND_ANY_ID = "1e78::numeric";

/**
 * How many rows a step has behind a hidden contract. Where hidden contracts are neighbours, all rows of a step belong
 * to the same one. With 5,000 such contracts of 150 tokens each, a page of 100 took 1.5 s with full steps, and takes
 * 0.2 s.
 */
const ROWS_BEHIND_HIDDEN = 8;

type Side = "token" | "ownership";

/** SQL of what is held by both tables, by contract and token id. `side`: the SQL for one of them. */
export const fromBoth = (side: (table: Side, isHeld: string) => string) => `
  ${side("token", "true")}
  union all
  ${side("ownership", "ownership.balance > 0")}
  order by
    contract_address,
    token_id
`;

/**
 * SQL of the tokens that an account holds, by contract and token id: up to `rows` of each table, to be limited again.
 * `joins`: look-ups for rows of one table beside the contract's metadata; `isBehind`: bounds of an index on owner,
 * contract and token id.
 *
 * It works in steps of `rows`, and nearly always needs one. Behind a token of a hidden contract, the next step skips
 * the other tokens of that contract: anybody can give anybody 300,000 of these by thirty logs, and reading each took
 * longer than a statement may.
 */
export const heldInOrder = ({
  columns,
  joins = { token: "", ownership: "" },
  chainId,
  after,
  isBehind,
  rows,
}: {
  columns: { token: string; ownership: string };
  joins?: { token: string; ownership: string };
  chainId: string;
  after: Place;
  isBehind: Bounds;
  rows: string;
}) => {
  const side = (table: Side, isHeld: string) => {
    const order = `
      ${table}.owner,
      ${table}.contract_address,
      ${table}.token_id
    `;
    const step = (place: Place, { shown, most }: { shown: string; most: string }) => `
      select
        ${table}.contract_address,
        ${table}.token_id,
        ${columns[table]},
        contract_metadata.is_fungible,
        row_number() over held as number,
        ${most} as most,
        ${shown} + count(*) filter (where contract_metadata.is_fungible is not true) over held as shown
      from ${table}
      ${joinContractMetadataText({ chainId, page: table })}
      ${joins[table]}
      where
        ${isBehind(place)(table)}
        and ${isHeld}
      window held as (order by ${order} rows unbounded preceding)
      order by ${order}
      limit ${most}
    `;
    const next = {
      address: "walk.contract_address",
      id: `case when walk.is_fungible then ${BEHIND_ANY_ID} else walk.token_id end`,
      rows: `case when walk.is_fungible then least(${ROWS_BEHIND_HIDDEN}, ${rows}) else ${rows}::bigint end`,
    };
    return `
      (
        with recursive walk as (
          (${step(after, { shown: "0::bigint", most: `${rows}::bigint` })})
          union all
          select step.*
          from walk
          cross join lateral (${step(next, { shown: "walk.shown", most: next.rows })}) as step
          where
            walk.number = walk.most
            and walk.shown < ${rows}
        )
        select *
        from walk
        where walk.is_fungible is not true
        order by
          walk.contract_address,
          walk.token_id
        limit ${rows}
      )
    `;
  };
  return fromBoth(side);
};

/**
 * Bounds of an index on owner, contract and token id. With `owner =` the planner may walk all tokens by contract and
 * id, which is the same order then, and filter.
 */
export const isBehind =
  (account: string): Bounds =>
  ({ address, id }) =>
  (table) =>
    `
    (${table}.owner, ${table}.contract_address, ${table}.token_id) > (${account}, ${address}, ${id})
    and ${table}.owner <= ${account}
  `;

/**
 * The same up to the contract `last`. `any`, because it is no order by contract and id alone, unlike `owner =`. Two
 * bounds of all columns aren't enough: before version 18 Postgres reads on to the end of what the account holds.
 */
export const isBehindUpTo =
  (account: string, last: string): Bounds =>
  ({ address, id }) =>
  (table) =>
    `
    ${table}.owner = any(array[${account}::bytea])
    and (${table}.contract_address, ${table}.token_id) > (${address}, ${id})
    and ${table}.contract_address <= ${last}
    and ${table}.owner is not null
  `;

const MINT_COLUMNS = ["mint_address", "mint_block_number", "mint_timestamp", "mint_transaction_hash"];
const DETAILS = `
  ${MINT_COLUMNS.map((column) => `token.${column}`).join(", ")},
  contract_metadata.name,
  contract_metadata.symbol,
  contract_metadata.image
`;

/** Parameters: rows, chain, account, and the contract and token id to continue behind. */
const held = (bounds: Bounds) => `
  ${heldInOrder({
    chainId: "$2",
    after: { address: "$4", id: "$5" },
    columns: {
      token: `1::numeric as balance, ${DETAILS}`,
      ownership: `ownership.balance, ${DETAILS}`,
    },
    joins: {
      token: "",
      ownership: joinToken({
        columns: MINT_COLUMNS,
        contractAddress: "ownership.contract_address",
        tokenId: "ownership.token_id",
      }),
    },
    isBehind: bounds,
    rows: "$1",
  })}
  limit $1
`;

/** SQL of the tokens that an account holds, by contract and token id, without documents: of any contract, or of one. */
export const HELD = { ofAnyContract: held(isBehind("$3")), ofOneContract: held(isBehindUpTo("$3", "$4")) };

/** The parameters of `HELD` after the number of rows. */
export function heldParameters({
  chainId,
  accountAddress,
  contractAddress,
  after,
}: Omit<HoldingsOptions, "limit">): Parameter[] {
  const contract = contractAddress ?? after?.[0];
  return [
    chainId,
    toBytes(accountAddress),
    contract === undefined ? BEFORE_ANY_ADDRESS : toBytes(contract),
    after?.[1] ?? "-1",
  ];
}

/** The zero address. Burned tokens go there, so it holds nothing. */
export const ZERO_LITERAL = `'\\x${zeroAddress.slice(2)}'::bytea`;

type HeldToken = { contract_address: string; token_id: string; balance: string };

const COLUMNS = `
  '0x' || encode(token.contract_address, 'hex') as contract_address,
  token.token_id,
  token.balance
`;
const ofAll = (tokens: string) => `
  select ${COLUMNS}
  from (${tokens}) as token
  order by
    token.contract_address,
    token.token_id
`;

/** The tokens that an account holds, by contract and token id, with their units. */
export async function listHeld(sql: Sql, options: HoldingsOptions): Promise<HeldToken[]> {
  if (options.accountAddress === zeroAddress) return [];
  const tokens = options.contractAddress === undefined ? HELD.ofAnyContract : HELD.ofOneContract;
  return sql.unsafe<HeldToken[]>(ofAll(tokens), [options.limit, ...heldParameters(options)], { prepare: true });
}
