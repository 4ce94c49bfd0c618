import type { Sql } from "postgres";
import { joinContractMetadataText } from "./contract.ts";
import { type Parameter, toBytes } from "./database.ts";
import { joinToken } from "./token.ts";

/** Which tokens of an account, and how many. */
export type HoldingsOptions = {
  chainId: number;
  accountAddress: string;
  contractAddress?: string | undefined;
  after: [contractAddress: string, tokenId: string] | undefined;
  limit: number;
};

/** Parameters: rows, chain, account, contract and token id to go on behind. */
const held = (conditions: (table: string) => string) => `
  (
    select
      token.contract_address,
      token.token_id,
      1::numeric as balance,
      token.mint_address,
      token.mint_block_number,
      token.mint_timestamp,
      token.mint_transaction_hash,
      contract_metadata.name,
      contract_metadata.symbol,
      contract_metadata.image
    from token
    ${joinContractMetadataText({ chainId: "$2", page: "token" })}
    where
      ${conditions("token")}
      and contract_metadata.is_fungible is not true
    order by
      token.owner,
      token.contract_address,
      token.token_id
    limit $1
  )
  union all
  (
    select
      ownership.contract_address,
      ownership.token_id,
      ownership.balance,
      token.mint_address,
      token.mint_block_number,
      token.mint_timestamp,
      token.mint_transaction_hash,
      contract_metadata.name,
      contract_metadata.symbol,
      contract_metadata.image
    from ownership
    ${joinContractMetadataText({ chainId: "$2", page: "ownership" })}
    ${joinToken({
      columns: ["mint_address", "mint_block_number", "mint_timestamp", "mint_transaction_hash"],
      contractAddress: "ownership.contract_address",
      tokenId: "ownership.token_id",
    })}
    where
      ${conditions("ownership")}
      and ownership.balance > 0
      and contract_metadata.is_fungible is not true
    order by
      ownership.owner,
      ownership.contract_address,
      ownership.token_id
    limit $1
  )
  order by
    contract_address,
    token_id
  limit $1
`;

/**
 * Bounds of an index on owner, contract and token id. Not `owner =`: with that the planner may walk all tokens in the
 * order of contract and id, which is the same order then, and leave out those of others.
 */
const ofAnyContract = (table: string) => `
  (${table}.owner, ${table}.contract_address, ${table}.token_id) > ($3, $4, $5)
  and ${table}.owner <= $3
`;
const ofOneContract = (table: string) => `
  (${table}.owner, ${table}.contract_address, ${table}.token_id) > ($3, $4, $5)
  and (${table}.owner, ${table}.contract_address) <= ($3, $4)
  and ${table}.owner <= $3
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
    contract === undefined ? Buffer.alloc(0) : toBytes(contract),
    after?.[1] ?? "-1",
  ];
}

/** The zero address is where burned tokens go: it holds nothing. */
export const ZERO_ADDRESS = `0x${"0".repeat(40)}`;

export type HeldToken = { contract_address: string; token_id: string; balance: string };

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
  if (options.accountAddress === ZERO_ADDRESS) return [];
  const tokens = options.contractAddress === undefined ? HELD.ofAnyContract : HELD.ofOneContract;
  return sql.unsafe<HeldToken[]>(ofAll(tokens), [options.limit, ...heldParameters(options)], { prepare: true });
}
