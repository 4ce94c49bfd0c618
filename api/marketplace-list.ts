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
export type TokenPage = { count: number; page: Page };
export type Page = (sql: Sql) => Fragment;

/** Finds pages by their number. */
export type TokenLists = (
  scope: Scope,
  selection: Selection,
  options: { offset: number; limit: number },
) => Promise<TokenPage>;

/**
 * The whole list, or every so many of its keys: a page begins at one of those and is read from the tables. The addresses
 * are left out where all are the scope's.
 */
type Marks = { count: number; step: number; ids: string[]; addresses?: string[] | undefined };

/** Tokens between two marks of a list in the order of its index. A page skips half of them on average: 20 µs. */
const STEP = 100;

/** Page numbers of lists of any length: a deep page takes no longer than the first. `sql`: connections of `runLong`. */
export function createTokenLists(sql: Sql): TokenLists {
  const getMarks = createKeptLists<Marks>({ sizeOf: ({ count }) => count, weightOf: ({ ids }) => ids.length });
  return async (scope, selection, { offset, limit }) => {
    const isWhole = selection.isBuyNow || selection.sort !== undefined;
    const key = JSON.stringify([scope.contractAddress, scope.accountAddress, selection]);
    const { count, step, ids, addresses } = await getMarks(key, () =>
      isWhole ? listKeys(sql, scope, selection) : markTokens(sql, scope),
    );
    const keysFrom = (from: number, many: number): Key[] =>
      ids
        .slice(from, from + many)
        .map((tokenId, n) => ({ address: addresses?.[from + n] ?? scope.contractAddress!.slice(2), tokenId }));
    if (step === 1) return { count, page: (on) => pageOfKeys(on, keysFrom(offset, limit)) };
    const [from] = keysFrom(Math.floor(offset / step), 1);
    if (!from) return { count, page: (on) => pageOfKeys(on, []) };
    return { count, page: (on) => pageFrom(on, scope, { from, offset: offset % step, limit }) };
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
  const marks = rows.filter(({ place }) => place % STEP === 1);
  return {
    count: rows.at(-1)?.place ?? 0,
    step: STEP,
    ids: marks.map(({ token_id }) => token_id),
    addresses: marks.map(({ address }) => address),
  };
}

/** Prices in other currencies come behind all in the chain's own, which have 78 digits at most. */
const BEHIND = `1${"0".repeat(80)}`;

/**
 * All keys of a list whose order is no index's, in one text: a million rows took this process two seconds. Prices are
 * one number, because Postgres compares the beginnings of the first column only.
 */
async function listKeys(sql: Sql, scope: Scope, { isBuyNow, sort, direction }: Selection): Promise<Marks> {
  const listed = await chooseListed(sql, scope);
  const [row] = await runLong<{ ids: string | null; addresses: string | null }>(
    sql,
    (long) => long`
      select
        string_agg(found.token_id::text, ',') as ids,
        ${scope.contractAddress === undefined ? long`string_agg(encode(found.contract_address, 'hex'), ',')` : long`null`}
          as addresses
      from (
        select
          contract_address,
          token_id
        from ${isBuyNow ? long`` : long`(${held(long, scope)}) as held left join`} (${listed(long)}) as listed
          ${isBuyNow ? long`` : long`using (contract_address, token_id)`}
        order by
          ${sort === "price" ? rankOf(long, direction) : long``}
          contract_address,
          token_id
      ) as found
    `,
  );
  const ids = row?.ids?.split(",") ?? [];
  // One text for each contract, not one for each of its tokens.
  const names = new Map<string, string>();
  const addresses = row?.addresses?.split(",").map((address) => {
    if (!names.has(address)) names.set(address, address);
    return names.get(address)!;
  });
  return { count: ids.length, step: 1, ids, addresses };
}

const rankOf = (sql: Sql, direction: Selection["direction"]): Fragment =>
  direction === "asc"
    ? sql`case when listed.is_native then listed.price else listed.price + ${BEHIND}::numeric end asc nulls last,`
    : sql`case when listed.is_native then listed.price + ${BEHIND}::numeric else listed.price end desc nulls last,`;

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
