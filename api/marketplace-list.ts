import type { Fragment, Sql } from "postgres";
import { isShown } from "./contract.ts";
import { toArray, toBytes } from "./database.ts";
import { createKeptLists } from "./kept-list.ts";
import { runLong } from "./long-statement.ts";
import { chooseListed, held, type Scope } from "./marketplace-holding.ts";

/** Which of them, in which order: by contract and token id, or by price with those that aren't listed last. */
export type Selection = { isBuyNow: boolean; sort: "price" | undefined; direction: "asc" | "desc" };

/** A token's place, its address without 0x. */
type Key = { address: string; tokenId: string };

/** A page of a list: `count` is that of the whole list, `page` a query for contract_address, token_id and place. */
export type TokenPage = { count: number; page: Fragment };

/** Finds pages by their number. */
export type TokenLists = (
  scope: Scope,
  selection: Selection,
  options: { offset: number; limit: number },
) => Promise<TokenPage>;

/** The whole list, or every so many of its keys: a page begins at one of those and is read from the tables. */
type Marks = { count: number; step: number; keys: Key[] };

/** Tokens between two marks of a list in the order of its index. A page skips half of them on average: 20 µs. */
const STEP = 100;

/** Page numbers of lists of any length: a deep page takes no longer than the first. */
export function createTokenLists(sql: Sql): TokenLists {
  const getMarks = createKeptLists<Marks>({ sizeOf: ({ count }) => count, weightOf: ({ keys }) => keys.length });
  return async (scope, selection, { offset, limit }) => {
    const isWhole = selection.isBuyNow || selection.sort !== undefined;
    const key = JSON.stringify([scope.contractAddress, scope.accountAddress, selection]);
    const { count, step, keys } = await getMarks(key, () =>
      isWhole ? listKeys(sql, scope, selection) : markTokens(sql, scope),
    );
    if (step === 1) return { count, page: pageOfKeys(sql, keys.slice(offset, offset + limit)) };
    const from = keys[Math.floor(offset / step)];
    if (!from) return { count, page: pageOfKeys(sql, []) };
    return { count, page: pageFrom(sql, scope, { from, offset: offset % step, limit }) };
  };
}

/** The first of every `STEP` tokens in the order of their ids. */
async function markTokens(sql: Sql, scope: Scope): Promise<Marks> {
  const rows = await runLong<{ address: string; token_id: string; place: number }>(
    sql,
    (long) => long`
      select
        encode(contract_address, 'hex') as address,
        token_id,
        place
      from (
        select
          contract_address,
          token_id,
          row_number() over in_order as place,
          lead(token_id) over in_order is null as is_last
        from (${held(long, scope)}) as held
        window in_order as (order by contract_address, token_id)
      ) as numbered
      where
        place % ${STEP} = 1
        or is_last
      order by place
    `,
  );
  const keys = rows
    .filter(({ place }) => place % STEP === 1)
    .map(({ address, token_id }) => ({ address, tokenId: token_id }));
  return { count: rows.at(-1)?.place ?? 0, step: STEP, keys };
}

/** All keys of a list whose order is no index's. */
async function listKeys(sql: Sql, scope: Scope, { isBuyNow, sort, direction }: Selection): Promise<Marks> {
  const listed = await chooseListed(sql, scope);
  const rows = await runLong<{ address: string; token_id: string }>(
    sql,
    (long) => long`
      with listed as materialized (${listed(long)})
      select
        encode(contract_address, 'hex') as address,
        token_id
      from (
        select
          contract_address,
          token_id,
          is_native,
          price
        from listed
        ${
          isBuyNow
            ? long``
            : long`
              union all
              select
                held.contract_address,
                held.token_id,
                null,
                null
              from (${held(long, scope)}) as held
            `
        }
      ) as found
      group by
        contract_address,
        token_id
      order by
        ${
          sort === "price"
            ? long`
              bool_or(is_native) desc nulls last,
              max(price) ${direction === "asc" ? long`asc` : long`desc`} nulls last,
            `
            : long``
        }
        contract_address,
        token_id
    `,
  );
  const names = new Map<string, string>();
  const keys = rows.map(({ address, token_id }) => {
    // One text for each contract, not one for each of its tokens.
    if (!names.has(address)) names.set(address, address);
    return { address: names.get(address)!, tokenId: token_id };
  });
  return { count: keys.length, step: 1, keys };
}

const pageOfKeys = (sql: Sql, keys: readonly Key[]): Fragment => sql`
  select
    decode(requested.address, 'hex') as contract_address,
    requested.token_id,
    requested.place
  from unnest(
    ${toArray(keys.map(({ address }) => address))}::text[],
    ${toArray(keys.map(({ tokenId }) => tokenId))}::numeric[]
  ) with ordinality as requested (address, token_id, place)
`;

/** A page in the order of an index, from a mark on. */
function pageFrom(
  sql: Sql,
  scope: Scope,
  { from, offset, limit }: { from: Key; offset: number; limit: number },
): Fragment {
  return sql`
    select
      contract_address,
      token_id,
      row_number() over () as place
    from (
      ${scope.accountAddress === undefined ? ofCollection(sql, scope, from) : ofAccount(sql, scope, from, offset + limit)}
      order by
        contract_address,
        token_id
      limit ${limit}
      offset ${offset}
    ) as found
  `;
}

const ofCollection = (sql: Sql, scope: Scope, from: Key): Fragment => sql`
  ${held(sql, scope)}
  and token.token_id >= ${from.tokenId}
`;

/** Bounds of the index on owner: see `listHoldings`. */
function ofAccount(sql: Sql, scope: Scope, from: Key, limit: number): Fragment {
  const account = toBytes(scope.accountAddress!);
  const contract = Buffer.from(from.address, "hex");
  const side = (table: Fragment, condition: Fragment): Fragment => sql`
    (
      select
        ${table}.contract_address,
        ${table}.token_id
      from ${table}
      where
        (${table}.owner, ${table}.contract_address, ${table}.token_id) >= (${account}, ${contract}, ${from.tokenId})
        and ${table}.owner <= ${account}
        and (${table}.owner, ${table}.contract_address) <= (${account}, ${
          scope.contractAddress === undefined ? Buffer.alloc(32, 0xff) : toBytes(scope.contractAddress)
        })
        ${condition}
        and ${isShown(sql, { chainId: scope.chainId, contractAddress: sql`${table}.contract_address` })}
      order by
        ${table}.owner,
        ${table}.contract_address,
        ${table}.token_id
      limit ${limit}
    )
  `;
  return sql`
    ${side(sql`token`, sql``)}
    union all
    ${side(sql`ownership`, sql`and ownership.balance > 0`)}
  `;
}
