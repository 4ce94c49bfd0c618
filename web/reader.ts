import type { KeyObject } from "node:crypto";
import type { Sql } from "postgres";
import { NETWORKS, type Network } from "../config.ts";
import { decodeCursor, encodeCursor, scopeOf, type SortKey } from "../api/http/cursor.ts";
import { notFound, quote } from "../api/http/errors.ts";
import { parse } from "../api/http/route.ts";
import { Address, TokenId } from "../api/http/parameter.ts";
import type { PageSources } from "../api/server.ts";
import type { Moment } from "../api/orderbook/trade-order.ts";
import type { Samples } from "./samples.ts";
import type { SlowValues } from "./slow-value.ts";

/** A collection by its address without 0x, and how many tokens it has. */
export type LargeCollection = { address: string; count: number };

/** What all pages are made from. */
export type Explorer = PageSources & {
  largest: SlowValues<LargeCollection[]>;
  holders: SlowValues<{ tokens: number; owners: number }>;
  samples: Samples;
};

/** What a page about one network reads from. */
export type Reader = { network: Network; chainId: number; moment: Moment; sql: Sql; secret: KeyObject };

/** @throws HttpError 404 for a network that isn't served, 503 where it can't be read now */
export function openReader({ databases, monitor }: PageSources, name: string): Reader {
  const network = NETWORKS.find((one) => one === name);
  if (!network) throw notFound(`There is no network ${quote(name)}. Expected mainnet or testnet.`);
  const { chainId, now, secret } = monitor.require(network);
  return { network, chainId, moment: { chainId, now }, sql: databases.read[network], secret };
}

/** Networks whose tables can be read. */
export function listReaders(sources: PageSources): Reader[] {
  return sources.monitor
    .networks()
    .filter(({ has_tables }) => has_tables)
    .map(({ name }) => openReader(sources, name));
}

/** An address out of a path. @throws HttpError 400 */
export const readAddress = (text: string): string => parse(Address, text);

/** A token id out of a path, as decimal. @throws HttpError 400 */
export const readTokenId = (text: string): string => parse(TokenId, text);

/** Where a page of a list begins, and how many rows it asks for. */
export type ListPlace<Key extends SortKey> = { after: Key | undefined; limit: number };

/** What a cursor of a page's list is bound to. */
export const scopeOfList = (name: string) => scopeOf("explorer", name);

/** One page of a list: the rows that are shown, and the cursor of what follows. */
export type ListPage<Row> = { rows: Row[]; next: string | undefined; isFirst: boolean };

/**
 * Loads a page of a list. The cursor is bound to `scope`, as the ones of the API are to their lists.
 *
 * @throws HttpError 400 for a cursor of another list
 */
export async function loadPage<Row, Key extends SortKey>(
  reader: Reader,
  {
    scope,
    cursor,
    limit,
    load,
    keyOf,
  }: {
    scope: string;
    cursor: string | undefined;
    limit: number;
    load: (place: ListPlace<Key>) => Promise<readonly Row[]>;
    keyOf: (row: Row) => Key;
  },
): Promise<ListPage<Row>> {
  return loadWindow<Row, Key>(reader, {
    scope,
    cursor,
    load: async (after) => {
      const found = await load({ after, limit: limit + 1 });
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      return { rows, next: found.length > limit && last ? keyOf(last) : undefined };
    },
  });
}

/**
 * The same for a list that knows itself where to go on. Rows are looked for in a window, for example: a page may be short,
 * and the next one still have some. `end`: what the cursor stands for.
 *
 * @throws HttpError 400 for a cursor of another list
 */
export async function loadWindow<Row, Key extends SortKey>(
  { secret }: Reader,
  {
    scope,
    cursor,
    load,
  }: {
    scope: string;
    cursor: string | undefined;
    load: (after: Key | undefined) => Promise<{ rows: Row[]; next: Key | undefined }>;
  },
): Promise<ListPage<Row> & { end: Key | undefined }> {
  const own = scopeOfList(scope);
  const after = cursor === undefined ? undefined : (decodeCursor(secret, { scope: own, cursor }) as Key);
  const { rows, next: end } = await load(after);
  return { rows, next: end && encodeCursor(secret, { scope: own, key: end }), end, isFirst: cursor === undefined };
}
