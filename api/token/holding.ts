import type { Sql } from "postgres";
import { zeroAddress } from "viem";
import { joinContractMetadataText } from "./contract.ts";
import { BEFORE_ANY_ADDRESS, type Parameter, toBytes } from "../sql/database.ts";
import { joinToken } from "./token.ts";

/** Which tokens of an account, and how many. */
export type HoldingsOptions = {
  chainId: number;
  accountAddress: string;
  contractAddress?: string | undefined;
  after: [contractAddress: string, tokenId: string] | undefined;
  limit: number;
};

/**
 * SQL of tokens that an account holds, by contract and token id: up to `rows` of either table, to be limited once more.
 * `joins` are looked up for rows of one table, `condition` has bounds as those of `isBehind`.
 */
export const heldInOrder = ({
  columns,
  joins = { token: "", ownership: "" },
  condition,
  rows,
}: {
  columns: { token: string; ownership: string };
  joins?: { token: string; ownership: string };
  condition: (table: string) => string;
  rows: string;
}) => {
  const side = (table: "token" | "ownership", isHeld: string) => `
    (
      select
        ${table}.contract_address,
        ${table}.token_id,
        ${columns[table]}
      from ${table}
      ${joins[table]}
      where
        ${condition(table)}
        and ${isHeld}
      order by
        ${table}.owner,
        ${table}.contract_address,
        ${table}.token_id
      limit ${rows}
    )
  `;
  return `
    ${side("token", "true")}
    union all
    ${side("ownership", "ownership.balance > 0")}
    order by
      contract_address,
      token_id
  `;
};

/**
 * Bounds of an index on owner, contract and token id. Not `owner =`: with that the planner may walk all tokens in the
 * order of contract and id, which is the same order then, and leave out those of others.
 */
export const isBehind =
  (account: string, contractAddress: string, tokenId: string) =>
  (table: string): string =>
    `
    (${table}.owner, ${table}.contract_address, ${table}.token_id) > (${account}, ${contractAddress}, ${tokenId})
    and ${table}.owner <= ${account}
  `;

const MINT_COLUMNS = ["mint_address", "mint_block_number", "mint_timestamp", "mint_transaction_hash"];
const DETAILS = `
  ${MINT_COLUMNS.map((column) => `token.${column}`).join(", ")},
  contract_metadata.name,
  contract_metadata.symbol,
  contract_metadata.image
`;

/** Parameters: rows, chain, account, contract and token id to go on behind. */
const held = (bounds: (table: string) => string) => `
  ${heldInOrder({
    columns: {
      token: `1::numeric as balance, ${DETAILS}`,
      ownership: `ownership.balance, ${DETAILS}`,
    },
    joins: {
      token: joinContractMetadataText({ chainId: "$2", page: "token" }),
      ownership: `
        ${joinContractMetadataText({ chainId: "$2", page: "ownership" })}
        ${joinToken({
          columns: MINT_COLUMNS,
          contractAddress: "ownership.contract_address",
          tokenId: "ownership.token_id",
        })}
      `,
    },
    condition: (table) => `
      ${bounds(table)}
      and contract_metadata.is_fungible is not true
    `,
    rows: "$1",
  })}
  limit $1
`;
const ofAnyContract = isBehind("$3", "$4", "$5");
/** Not also `owner <=`: beside that the end of the contract isn't where the index stops. */
const ofOneContract = (table: string) => `
  (${table}.owner, ${table}.contract_address, ${table}.token_id) > ($3, $4, $5)
  and (${table}.owner, ${table}.contract_address) <= ($3, $4)
  and ${table}.owner is not null
`;

/** SQL of tokens that an account holds, by contract and token id, without their documents: of any contract, or one. */
export const HELD = { ofAnyContract: held(ofAnyContract), ofOneContract: held(ofOneContract) };

/** What the statements of `HELD` take behind the number of rows. */
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

/** The zero address is where burned tokens go: it holds nothing. */
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

/** Tokens that an account holds, by contract and token id, with the units of each. */
export async function listHeld(sql: Sql, options: HoldingsOptions): Promise<HeldToken[]> {
  if (options.accountAddress === zeroAddress) return [];
  const tokens = options.contractAddress === undefined ? HELD.ofAnyContract : HELD.ofOneContract;
  return sql.unsafe<HeldToken[]>(ofAll(tokens), [options.limit, ...heldParameters(options)], { prepare: true });
}
