import { html } from "hono/html";
import { eventRowKey, listEvents } from "../api/token/event.ts";
import { listTokenHolders } from "../api/token/holder.ts";
import { listHistory } from "../api/orderbook/order-history.ts";
import { listOffers } from "../api/orderbook/token-offer.ts";
import { renderEventTable } from "./event-table.ts";
import { collectionName } from "./collection-list.ts";
import type { Html, Page } from "./html.ts";
import { loadPage } from "./list-page.ts";
import { renderHolders, renderOffers, renderOrders } from "./token-table.ts";
import { NONE_ON_PAGE, renderPager } from "./pager.ts";
import { tokenPath } from "./path.ts";
import type { Reader } from "./reader.ts";
import { loadToken, tokenName } from "./token.ts";

/** Lists of which a token's page shows the first rows. Each has a page of its own, too. */
export const TOKEN_LISTS = ["owners", "offers", "events", "orders"] as const;
type TokenListName = (typeof TOKEN_LISTS)[number];

const TITLES: Record<TokenListName, string> = {
  owners: "Owners",
  offers: "Offers",
  events: "History",
  orders: "Orders",
};
const MORE: Record<TokenListName, string> = {
  owners: "All owners",
  offers: "All offers",
  events: "Whole history",
  orders: "All orders",
};

/** Rows on the token's page, and on the list's own page. */
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
    title: `${TITLES[list]} of ${name} · ${collectionName({ name: token.contract_name, contract_address: contractAddress })}`,
    body: html`<p><a href="${tokenPath(place)}">${name}</a></p>
      ${body}`,
  };
}

/** One list of a token: its first rows with a link to the whole list, or the whole list, in pages if it is long. */
export async function renderTokenList(
  reader: Reader,
  { contractAddress, tokenId, list, cursor, isWhole }: Options & { isWhole: boolean },
): Promise<Html> {
  const path = tokenPath({ network: reader.network, contract_address: contractAddress, token_id: tokenId }, list);
  const { rows, isCut, pager } = await LOADERS[list](reader, {
    contractAddress,
    tokenId,
    cursor,
    isWhole,
    limit: isWhole ? MANY : FEW,
    scope: `${list} ${reader.network} ${contractAddress} ${tokenId}`,
  });
  const title = isWhole
    ? html`<h1 id="${list}-of">${TITLES[list]}</h1>`
    : html`<h2 id="${list}-of">${TITLES[list]}</h2>`;
  return html`<section aria-labelledby="${list}-of">
    ${title}
    <div id="${list}">${rows}</div>
    ${isWhole ? pager && renderPager({ path, ...pager }) : isCut && html`<p><a href="${path}">${MORE[list]}</a></p>`}
  </section>`;
}

type LoadOptions = {
  contractAddress: string;
  tokenId: string;
  cursor: string | undefined;
  isWhole: boolean;
  limit: number;
  scope: string;
};
/** Rows of a list, whether more rows follow, and the links to them if the list has pages. */
type Loaded = { rows: Html; isCut: boolean; pager?: { next: string | undefined; isFirst: boolean } };
type Loader = (reader: Reader, options: LoadOptions) => Promise<Loaded>;

const LOADERS: Record<TokenListName, Loader> = {
  owners: async (reader, { contractAddress, tokenId, ...paging }) => {
    const { rows, ...pager } = await loadPage(reader, {
      ...paging,
      // Cursors of before were addresses.
      scope: `${paging.scope} newest first`,
      load: ({ after, limit }) => listTokenHolders(reader.sql, { contractAddress, tokenId, before: after, limit }),
      keyOf: eventRowKey,
    });
    const isGone = rows.length === 0 && !pager.isFirst;
    return { rows: isGone ? NONE_ON_PAGE : renderHolders(reader, rows), isCut: pager.next !== undefined, pager };
  },
  events: async (reader, { contractAddress, tokenId, ...paging }) => {
    const { rows: events, ...pager } = await loadPage(reader, {
      ...paging,
      load: ({ after, limit }) =>
        listEvents(reader.sql, { chainId: reader.chainId, contractAddress, tokenId, before: after, limit }),
      keyOf: eventRowKey,
    });
    const rows = renderEventTable(reader, { events, caption: "History", id: "history" });
    return { rows, isCut: pager.next !== undefined, pager };
  },
  offers: async (reader, options) => {
    const { rows, isCut } = startOf(await listOffers(reader.sql, { ...options, ...reader.moment }), options);
    return { rows: renderOffers(reader, rows), isCut };
  },
  orders: async (reader, options) => {
    const { rows, isCut } = startOf(await listHistory(reader.sql, { ...options, ...reader.moment }), options);
    return { rows: renderOrders(reader, rows), isCut };
  },
};

/** The first rows of a short list, or all on one page. It changes too often to be read page by page. */
const startOf = <Row>(all: readonly Row[], { isWhole, limit }: LoadOptions) => {
  const rows = isWhole ? all : all.slice(0, limit);
  return { rows, isCut: rows.length < all.length };
};
