import { isShownText } from "../token/contract.ts";
import { fromBoth, heldInOrder, isBehindUpTo } from "../token/holding.ts";
import { IS_HELD } from "./marketplace-scope.ts";
import { joinToken } from "../token/token.ts";
import { NUMBER_IN_CONTRACT, NUMBER_OF_COLLECTION } from "../orderbook/order-listing.ts";
import { CHAIN } from "../orderbook/trade-order.ts";

/*
 * SQL of pages of tokens on the marketplace, in the shape that `withListings` expects.
 */

const KEY = ["contract_address", "token_id"];
const TOKEN_COLUMNS = ["standard", "owner"];

/** Columns of `COLLECTION_KEYS` and `COLLECTION_RANGE` beside the key. */
export const COLLECTION_COLUMNS = [...TOKEN_COLUMNS, "mint_timestamp"];

const tokenOf = (columns: readonly string[]) => [...KEY, ...columns].map((column) => `token.${column}`).join(", ");

const IS_SHOWN = isShownText({ chainId: CHAIN, contractAddress: "$1" });

/**
 * $1: contract, $4: token ids. Empty where the contract is hidden. Tokens that were burned since the list was made are
 * left out.
 */
export const COLLECTION_KEYS = `
  select
    requested.place,
    ${NUMBER_IN_CONTRACT},
    ${tokenOf(COLLECTION_COLUMNS)}
  from unnest($4::numeric[]) with ordinality as requested (id, place)
  ${joinToken({ columns: [...KEY, ...COLLECTION_COLUMNS], contractAddress: "$1", tokenId: "requested.id" })}
  where
    ${IS_SHOWN}
    and ${IS_HELD}
`;

/** A part of a sorted list, as SQL: up to `limit` tokens from the given key on, after skipping `offset`. */
export type Stretch = { address: string; id: string; offset: string; limit: string };

/** Tokens of the contract $1 that somebody holds, by token id. Empty where the contract is hidden. */
export const collectionTokens = ({ id, offset, limit }: Omit<Stretch, "address">, columns: readonly string[] = []) => `
  select ${tokenOf(columns)}
  from token
  where
    token.contract_address = $1
    and token.token_id >= ${id}
    and ${IS_HELD}
    and ${IS_SHOWN}
  order by
    token.contract_address,
    token.token_id
  limit ${limit}
  offset ${offset}
`;

/** $1: contract, $4: token id to begin with, $5: tokens to skip, $6: rows. */
export const COLLECTION_RANGE = `
  select
    row_number() over (order by token.token_id) as place,
    ${NUMBER_IN_CONTRACT},
    ${tokenOf(COLLECTION_COLUMNS)}
  from (
    ${collectionTokens({ id: "$4", offset: "$5", limit: "$6" }, COLLECTION_COLUMNS)}
  ) as token
`;

const RECEIVED = ["received_block_number", "received_log_index", "received_batch_index"];

/** The balance and the last receipt are null for tokens that only one account can hold. */
export const ACCOUNT_COLUMNS = [...TOKEN_COLUMNS, "balance", ...RECEIVED];

/**
 * $1: account, $4: addresses without 0x, $5: token ids. Tokens that it gave away since the list was made are left out,
 * and those of contracts that were hidden since.
 */
export const ACCOUNT_KEYS = `
  select
    requested.place,
    ${NUMBER_OF_COLLECTION},
    ${tokenOf(TOKEN_COLUMNS)},
    holding.balance,
    ${RECEIVED.map((column) => `holding.${column}`).join(", ")}
  from unnest($4::text[], $5::numeric[]) with ordinality as requested (address, id, place)
  ${joinToken({ columns: [...KEY, ...TOKEN_COLUMNS], contractAddress: "decode(requested.address, 'hex')", tokenId: "requested.id" })}
  left join lateral (
    select
      ownership.balance,
      ${RECEIVED.map((column) => `ownership.${column}`).join(", ")}
    from ownership
    where
      token.owner is null
      and ownership.contract_address = token.contract_address
      and ownership.token_id = token.token_id
      and ownership.owner = $1
    limit 1
  ) as holding on true
  where
    ${isShownText({ chainId: CHAIN, contractAddress: "token.contract_address" })}
    and (
      token.owner = $1
      or holding.balance > 0
    )
`;

/**
 * Keys of tokens that the account $1 holds, by contract and token id, up to the contract `last`. Tokens of hidden
 * contracts are skipped one by one: skipping whole contracts in steps, like `heldInOrder`, took three times as long for
 * all tokens of an account.
 */
export const accountKeys = ({ address, id, offset, limit, last }: Stretch & { last: string }) => {
  const side = (table: string, isHeld: string) => `
    (
      select
        ${table}.contract_address,
        ${table}.token_id
      from ${table}
      where
        ${isBehindUpTo("$1", last)({ address, id: `${id}::numeric - 1` })(table)}
        and ${isHeld}
        and ${isShownText({ chainId: CHAIN, contractAddress: `${table}.contract_address` })}
      order by
        ${table}.owner,
        ${table}.contract_address,
        ${table}.token_id
      limit ${offset}::bigint + ${limit}::bigint
    )
  `;
  return `
    ${fromBoth(side)}
    limit ${limit}::bigint
    offset ${offset}::bigint
  `;
};

const ACCOUNT_TOKENS = `
  ${heldInOrder({
    columns: {
      token: `
        token.standard,
        token.owner,
        null::numeric as balance,
        null::bigint as received_block_number,
        null::integer as received_log_index,
        null::integer as received_batch_index
      `,
      ownership: `
        'ERC1155' as standard,
        null::bytea as owner,
        ownership.balance,
        ${RECEIVED.map((name) => `ownership.${name}`).join(", ")}
      `,
    },
    chainId: CHAIN,
    // Minus 1, because the page includes the token that it begins with.
    after: { address: "$4", id: "$5::numeric - 1" },
    isBehind: isBehindUpTo("$1", "$6"),
    rows: "($7::bigint + $8::bigint)",
  })}
  limit $8::bigint
  offset $7::bigint
`;

/** $1: account, $4 and $5: contract and token id to begin with, $6: the last contract, $7: tokens to skip, $8: rows. */
export const ACCOUNT_RANGE = `
  select
    row_number() over (order by token.contract_address, token.token_id) as place,
    ${NUMBER_OF_COLLECTION},
    ${tokenOf(ACCOUNT_COLUMNS)}
  from (${ACCOUNT_TOKENS}) as token
`;
