import { html } from "hono/html";
import { listEvents } from "../api/token/event.ts";
import { type HolderRow, listTokenHolders } from "../api/token/holder.ts";
import { listHistory, listOffers } from "../api/orderbook/order-history.ts";
import { renderEventTable } from "./event-table.ts";
import { eventKey } from "./events-page.ts";
import type { Html, Page } from "./html.ts";
import { renderHolders, renderOffers, renderOrders } from "./order-table.ts";
import { renderPager } from "./pager.ts";
import { tokenPath } from "./path.ts";
import { loadPage, type Reader } from "./reader.ts";
import { loadToken, tokenName } from "./token.ts";

/** What a token's page shows the start of, each with a page of its own. */
export const TOKEN_LISTS = ["owners", "offers", "events", "orders"] as const;
export type TokenListName = (typeof TOKEN_LISTS)[number];

const TITLES: Record<TokenListName, string> = {
  owners: "Owners",
  offers: "Offers",
  events: "History",
  orders: "Orders",
};

/** Rows on the token's page, and on the page of the list alone. */
const FEW = 8;
const MANY = 40;

type Options = { contractAddress: string; tokenId: string; list: TokenListName; cursor: string | undefined };

/** One list of a token on a page of its own. @throws HttpError 404 */
export async function renderTokenListPage(reader: Reader, options: Options): Promise<Page> {
  const { contractAddress, tokenId, list } = options;
  const place = { network: reader.network, contract_address: contractAddress, token_id: tokenId };
  const [token, body] = await Promise.all([
    loadToken(reader, options),
    renderTokenList(reader, { ...options, isWhole: true }),
  ]);
  const name = tokenName(token);
  return {
    title: `${TITLES[list]} of ${name}`,
    body: html`<p><a href="${tokenPath(place)}">${name}</a></p>
      ${body}`,
  };
}

/** One list of a token: its first rows with a link to all, or a page of all. */
export async function renderTokenList(
  reader: Reader,
  { contractAddress, tokenId, list, cursor, isWhole }: Options & { isWhole: boolean },
): Promise<Html> {
  const path = tokenPath({ network: reader.network, contract_address: contractAddress, token_id: tokenId }, list);
  const { rows, next, isFirst } = await LOADERS[list](reader, {
    contractAddress,
    tokenId,
    cursor,
    limit: isWhole ? MANY : FEW,
    scope: `${list} ${reader.network} ${contractAddress} ${tokenId}`,
  });
  const title = isWhole
    ? html`<h1 id="${list}-of">${TITLES[list]}</h1>`
    : html`<h2 id="${list}-of">${TITLES[list]}</h2>`;
  return html`<section aria-labelledby="${list}-of">
    ${title}
    <div id="${list}" data-live>${rows}</div>
    ${isWhole ? renderPager({ path, next, isFirst }) : next !== undefined && html`<p><a href="${path}">All of them</a></p>`}
  </section>`;
}

type LoadOptions = {
  contractAddress: string;
  tokenId: string;
  cursor: string | undefined;
  limit: number;
  scope: string;
};
type Loader = (
  reader: Reader,
  options: LoadOptions,
) => Promise<{ rows: Html; next: string | undefined; isFirst: boolean }>;

const LOADERS: Record<TokenListName, Loader> = {
  owners: async (reader, { contractAddress, tokenId, ...paging }) => {
    const page = await loadPage(reader, {
      ...paging,
      load: ({ after, limit }) => listTokenHolders(reader.sql, { contractAddress, tokenId, after: after?.[0], limit }),
      keyOf: ({ owner }: HolderRow): [string] => [owner],
    });
    return { ...page, rows: renderHolders(reader, page.rows) };
  },
  events: async (reader, { contractAddress, tokenId, ...paging }) => {
    const page = await loadPage(reader, {
      ...paging,
      load: ({ after, limit }) =>
        listEvents(reader.sql, { chainId: reader.chainId, contractAddress, tokenId, before: after, limit }),
      keyOf: eventKey,
    });
    const rows = renderEventTable(reader, { events: page.rows, caption: "History", id: "history" });
    return { ...page, rows };
  },
  // These two are short lists, found as a whole: their cursor is a place in them.
  offers: async (reader, options) => {
    const offers = await listOffers(reader.sql, { ...options, ...reader.moment });
    const page = await loadPage(reader, { ...options, ...placesOf(offers) });
    return {
      ...page,
      rows: renderOffers(
        reader,
        page.rows.map(({ row }) => row),
      ),
    };
  },
  orders: async (reader, options) => {
    const orders = await listHistory(reader.sql, { ...options, ...reader.moment });
    const page = await loadPage(reader, { ...options, ...placesOf(orders) });
    return {
      ...page,
      rows: renderOrders(
        reader,
        page.rows.map(({ row }) => row),
      ),
    };
  },
};

/** A list that is here already, by places. */
const placesOf = <Row>(rows: readonly Row[]) => ({
  load: async ({ after, limit }: { after: [number] | undefined; limit: number }) => {
    const from = after ? after[0] + 1 : 0;
    return rows.slice(from, from + limit).map((row, n) => ({ row, place: from + n }));
  },
  keyOf: ({ place }: { place: number }): [number] => [place],
});
