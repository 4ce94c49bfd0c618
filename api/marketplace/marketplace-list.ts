import type { Sql } from "postgres";
import { zeroAddress } from "viem";
import { toBytes } from "../../offchain/bytea.ts";
import { AFTER_ANY_ADDRESS, BEFORE_ANY_ADDRESS, toArray } from "../sql/database.ts";
import { createKeptLists, SHORT_LIST } from "../sql/kept-list.ts";
import { runLong } from "../sql/long-statement.ts";
import { BEHIND, chooseListed } from "./marketplace-listing.ts";
import { countSeen, held, namesOf, type Scope, scopeParameters } from "./marketplace-scope.ts";
import { accountKeys, collectionTokens, type Stretch } from "./marketplace-page.ts";

/** Which tokens of a scope, and their order: by contract and token id, or by price with unlisted tokens last. */
export type Selection = { isBuyNow: boolean; sort: "price" | undefined; direction: "asc" | "desc" };

/**
 * How the tokens of a page are found: `keys` names each one; `range` reads `limit` tokens in the order of an index,
 * from a key on, after skipping `offset`. Addresses are without 0x.
 */
export type Page =
  | { kind: "keys"; addresses: string[]; ids: string[] }
  | { kind: "range"; fromAddress: string; fromId: string; offset: number; limit: number };

/** `count`: tokens of the whole list. */
type TokenPage = { count: number; page: Page };

/** Finds pages by their number. */
type TokenLists = (
  scope: Scope,
  selection: Selection,
  options: { offset: number; limit: number },
) => Promise<TokenPage>;

/**
 * Every `step`th key of a list. With `step` 1 these are all keys; else a page is read from the tables, from a mark on.
 * `addresses` is left out where all tokens are of the scope's contract.
 */
type Marks = {
  count: number;
  step: number;
  ids: string[];
  addresses?: string[] | undefined;
  /** Listings that were looked at for it. */
  looked?: number;
};
/** `seen`: how many tokens and listings were looked at to make the list. */
type MarksOfScope = Marks & { seen: number };

/** Tokens from one mark of a list to the next. A page skips half of them on average, which takes 20 µs. */
const STEP = 100;
/**
 * If there are so many tokens from one mark to the next, burned ones included, skipping them takes a page a
 * millisecond.
 */
const SPARSE_ROWS = 20 * STEP;

const NO_TOKENS: TokenPage = { count: 0, page: { kind: "keys", addresses: [], ids: [] } };

/** Finds numbered pages of lists. A deep page takes no longer than the first. `sql`: connections for `runLong`. */
export function createTokenLists(sql: Sql): TokenLists {
  const getMarks = createKeptLists<MarksOfScope>({
    sizeOf: ({ count, seen }) => Math.max(count, seen),
    weightOf: ({ ids }) => ids.length,
  });
  return async (scope, selection, { offset, limit }) => {
    // The zero address is said to hold nothing. All burned tokens would be read for it otherwise.
    if (scope.accountAddress === zeroAddress) return NO_TOKENS;
    const isWhole = selection.isBuyNow || selection.sort !== undefined;
    const key = JSON.stringify([scope.contractAddress, scope.accountAddress, selection]);
    const { count, step, ids, addresses } = await getMarks(key, async () => {
      const marks = await (isWhole ? listKeys(sql, scope, selection) : markTokens(sql, scope));
      // A list of tokens on sale is made without reading tokens that have no listing.
      const seen = selection.isBuyNow ? 0 : await countSeen(sql, scope, { most: SHORT_LIST + 1 });
      return { ...marks, seen: Math.max(marks.looked ?? 0, seen) };
    });
    const addressAt = (place: number) => addresses?.[place] ?? scope.contractAddress!.slice(2);
    const mark = Math.floor(offset / step);
    const fromId = ids[mark];
    if (step === 1 || fromId === undefined) {
      const named = step === 1 ? ids.slice(offset, offset + limit) : [];
      return { count, page: { kind: "keys", addresses: named.map((_, n) => addressAt(offset + n)), ids: named } };
    }
    const fromAddress = addressAt(mark);
    return { count, page: { kind: "range", fromAddress, fromId, offset: offset % step, limit } };
  };
}

/**
 * The first of every `STEP` tokens, by contract and token id. Each mark is found from the one before by an index:
 * numbering a million tokens took twice as long.
 */
async function markTokens(sql: Sql, { accountAddress, contractAddress, chainId }: Scope): Promise<Marks> {
  const contract = contractAddress === undefined ? undefined : toBytes(contractAddress);
  const [statement, parameters] =
    accountAddress === undefined
      ? [MARKS_OF_COLLECTION, [contract!, chainId]]
      : [
          MARKS_OF_ACCOUNT,
          [toBytes(accountAddress), chainId, contract ?? BEFORE_ANY_ADDRESS, contract ?? AFTER_ANY_ADDRESS],
        ];
  const marks = await runLong<{ address: string; token_id: string; rest: number | null }>(sql, (long) =>
    long.unsafe(statement, parameters),
  );
  const ids = marks.map(({ token_id }) => token_id);
  if (accountAddress === undefined && (await isSparse(sql, { contract: contract!, ids })))
    return listHeldKeys(sql, { contract: contract! });
  return {
    count: Math.max(0, marks.length - 1) * STEP + (marks.at(-1)?.rest ?? 0),
    step: STEP,
    ids,
    addresses: marks.map(({ address }) => address),
  };
}

/**
 * Whether some mark has so many tokens before the next one that finding a page there would be slow. Burned tokens are
 * skipped one by one at each request: 0.4 s for a million.
 */
async function isSparse(sql: Sql, { contract, ids }: { contract: Buffer; ids: readonly string[] }): Promise<boolean> {
  const [row] = await runLong<{ is_sparse: boolean }>(sql, (long) =>
    long.unsafe(IS_SPARSE, [contract, toArray(ids), toArray([...ids.slice(1), "1e78"])]),
  );
  return row!.is_sparse;
}

/** All keys of a collection, for pages of kind `keys`. */
async function listHeldKeys(sql: Sql, { contract }: { contract: Buffer }): Promise<Marks> {
  const [row] = await runLong<{ ids: string | null }>(sql, (long) => long.unsafe(HELD_KEYS, [contract]));
  const ids = row?.ids?.split(",") ?? [];
  return { count: ids.length, step: 1, ids };
}

/** SQL of the marks of a list. The last mark's `rest` is the number of tokens from it to the end of the list. */
const marksOf = (tokens: (stretch: Stretch) => string) => `
  with recursive mark as (
    select
      first.contract_address,
      first.token_id,
      1 as number
    from (${tokens({ address: "$3", id: "-1", offset: "0", limit: "1" })}) as first
    union all
    select
      next.contract_address,
      next.token_id,
      mark.number + 1
    from mark
    cross join lateral (
      ${tokens({ address: "mark.contract_address", id: "mark.token_id", offset: String(STEP), limit: "1" })}
    ) as next
  )
  select
    encode(mark.contract_address, 'hex') as address,
    mark.token_id,
    case
      when mark.number = (select max(one.number) from mark as one) then (
        select count(*)
        from (
          ${tokens({ address: "mark.contract_address", id: "mark.token_id", offset: "0", limit: String(STEP) })}
        ) as left_over
      )
    end as rest
  from mark
  order by mark.number
`;

/** $1: contract, $2: chain. */
const MARKS_OF_COLLECTION = marksOf(collectionTokens);

/** $1: contract, $2: token ids of the marks, $3: for each of them the id of the next mark. */
const IS_SPARSE = `
  select exists (
    select
    from unnest($2::numeric[], $3::numeric[]) as stretch (first, next)
    where (
      select count(*)
      from (
        select
        from token
        where
          token.contract_address = $1
          and token.token_id >= stretch.first
          and token.token_id < stretch.next
        limit ${SPARSE_ROWS}
      ) as one
    ) = ${SPARSE_ROWS}
  ) as is_sparse
`;

/** $1: contract. */
const HELD_KEYS = `
  select string_agg(found.token_id::text, ',') as ids
  from (
    ${held({ contract: "$1::bytea" })}
    order by token.token_id
  ) as found
`;

/** $1: account, $2: chain, $3: the first contract, $4: the last contract. */
const MARKS_OF_ACCOUNT = marksOf((stretch) => accountKeys({ ...stretch, last: "$4" }));

/**
 * All keys of a list that no index has in its order. They come as one text, because a million rows took this process
 * two seconds. A price and its currency are one number, because Postgres sorts fast by the first column only. Within
 * one contract, the list isn't sorted by contract.
 */
async function listKeys(sql: Sql, scope: Scope, { isBuyNow, sort, direction }: Selection): Promise<Marks> {
  const { listed, isOverSets, looked } = await chooseListed(sql, scope);
  const isOne = scope.contractAddress !== undefined;
  const statement = `
    select
      string_agg(found.token_id::text, ',') as ids,
      ${isOne ? "null" : "string_agg(encode(found.contract_address, 'hex'), ',')"} as addresses
    from (
      select
        contract_address,
        token_id
      from ${isBuyNow ? "" : `(${held(namesOf(scope))}) as held left join`} (${listed}) as listed
        ${isBuyNow ? "" : "using (contract_address, token_id)"}
      order by
        ${sort === "price" ? RANKS[direction] : ""}
        ${isOne ? "" : "contract_address,"}
        token_id
    ) as found
  `;
  const [row] = await runLong<{ ids: string | null; addresses: string | null }>(
    sql,
    (long) => long.unsafe(statement, scopeParameters(scope)),
    // Where tokens that aren't on sale are wanted too, what is held is joined with what is listed.
    { isOverSets: isOverSets || !isBuyNow },
  );
  const ids = row?.ids?.split(",") ?? [];
  // Keeps one string per contract in memory instead of one per token.
  const names = new Map<string, string>();
  const addresses = row?.addresses?.split(",").map((address) => {
    if (!names.has(address)) names.set(address, address);
    return names.get(address)!;
  });
  return { count: ids.length, step: 1, ids, addresses, looked };
}

/** In both directions, prices in the chain's own currency come first, and tokens that aren't listed last. */
const RANKS = {
  asc: "listed.rank asc nulls last,",
  desc: `case when listed.rank < ${BEHIND} then listed.rank + ${BEHIND} else listed.rank - ${BEHIND} end desc nulls last,`,
};
