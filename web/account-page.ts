import { html } from "hono/html";
import { listCollections } from "../api/marketplace/collection.ts";
import { listAccountListings } from "../api/orderbook/listed-token.ts";
import { listAccountEvents } from "../api/token/newest-event.ts";
import { listHeld } from "../api/token/holding.ts";
import { listOrderbookTokensOf } from "../api/orderbook/orderbook.ts";
import type { EventKey } from "../api/token/event.ts";
import type { Network } from "../config.ts";
import { renderAddressLink } from "./block-explorer.ts";
import { collectionName } from "./collection-list.ts";
import { renderCopyButton } from "./copy-button.ts";
import { renderEventTable } from "./event-table.ts";
import type { Html, Page } from "./html.ts";
import { type ListPlace, loadPage, loadWindow } from "./list-page.ts";
import { NONE_ON_PAGE, renderPager } from "./pager.ts";
import { type AccountView, accountPath, collectionPath, withQuery } from "./path.ts";
import type { Reader } from "./reader.ts";
import { renderTabs, VIEW_TITLES } from "./tabs.ts";
import { shorten } from "./text.ts";
import { type GridToken, loadCards, renderTokenGrid } from "./token-grid.ts";

const TOKENS = 24;
const EVENTS = 25;

type Options = {
  accountAddress: string;
  view: AccountView;
  cursor: string | undefined;
  /** Only holdings of this collection are shown. */
  contractAddress?: string | undefined;
  /** All networks, on each of which the account may hold tokens. */
  networks: readonly Network[];
};

/** An account: its tokens, those on sale, or its events. */
export async function renderAccountPage(reader: Reader, options: Options): Promise<Page> {
  const { network, chainId } = reader;
  const { accountAddress, view, networks } = options;
  const others = networks.filter((one) => one !== network);
  const path = (to: AccountView) => accountPath({ network, account_address: accountAddress }, to);
  return {
    title: `Account ${shorten(accountAddress)}${VIEW_TITLES[view]}`,
    body: html`<div class="head">
        <h1>Account <span class="hex">${shorten(accountAddress)}</span></h1>
        <p class="muted">
          <span class="hex whole">${accountAddress}</span>
          ${renderCopyButton(accountAddress, { what: "account address" })} ·
          ${network}${others.map((other) => html` · <a href="${accountPath({ network: other, account_address: accountAddress }, view)}">on ${other}</a>`)}
          ${renderAddressLink(accountAddress, { chainId })}
        </p>
      </div>
      ${renderTabs("Views of the account", [
        { text: "Holdings", path: path(""), isCurrent: view === "" },
        { text: "Listed", path: path("listed"), isCurrent: view === "listed" },
        { text: "Activity", path: path("events"), isCurrent: view === "events" },
      ])}
      ${await VIEWS[view](reader, options)}`,
  };
}

const VIEWS: Record<AccountView, (reader: Reader, options: Options) => Promise<Html>> = {
  "": renderHoldings,
  listed: renderListed,
  events: renderEvents,
};

async function renderHoldings(reader: Reader, { accountAddress, contractAddress, cursor }: Options): Promise<Html> {
  const { sql, chainId, moment, network } = reader;
  const { rows, next, isFirst } = await loadPage(reader, {
    scope: `holdings ${network} ${accountAddress} ${contractAddress ?? "*"}`,
    cursor,
    limit: TOKENS,
    load: async ({ after, limit }: ListPlace<[string, string]>) => {
      return listHeld(sql, { chainId, accountAddress, contractAddress, after, limit });
    },
    keyOf: (row): [string, string] => [row.contract_address, row.token_id],
  });
  const path = accountPath({ network, account_address: accountAddress });
  if (rows.length === 0 && isFirst)
    return contractAddress === undefined
      ? html`<p class="muted">It holds nothing.</p>`
      : html`<p class="muted">It holds nothing of ${contractAddress}. <a href="${path}">All holdings</a></p>`;
  const orders = await listOrderbookTokensOf(sql, { ...moment, accountAddress, tokens: rows });
  const listed = new Map(orders.map((row) => [`${row.contract_address}/${row.token_id}`, row]));
  const tokens = rows.map((row) => ({ ...listed.get(`${row.contract_address}/${row.token_id}`), ...row }));
  const query = { contract: contractAddress };
  const linkOf = ({ address, name }: { address: string; name: string }) =>
    contractAddress === undefined
      ? html`<a class="more" href="${withQuery(path, { contract: address })}"
          >only these<span class="hidden"> of ${name}</span></a
        >`
      : html`<a class="more" href="${path}">all holdings</a>`;
  return html`${await renderByCollection(reader, tokens, { linkOf })} ${renderPager({ path, query, next, isFirst })}`;
}

/** A page's tokens under a heading for each collection. `linkOf`: a link beside the heading. */
async function renderByCollection(
  reader: Reader,
  tokens: readonly GridToken[],
  { linkOf }: { linkOf?: (collection: { address: string; name: string }) => Html } = {},
): Promise<Html> {
  if (tokens.length === 0) return NONE_ON_PAGE;
  const groups = Map.groupBy(tokens, ({ contract_address }) => contract_address);
  const addresses = [...groups.keys()].map((address) => address.slice(2));
  const [cards, collections] = await Promise.all([
    loadCards(reader, tokens),
    listCollections(reader.sql, { chainId: reader.chainId, addresses }),
  ]);
  const names = new Map(collections.map(({ collection_id, collection_name }) => [collection_id, collection_name]));
  return html`${[...groups].map(([contract_address, items]) => {
    const name = collectionName({ name: names.get(contract_address) ?? "", contract_address });
    return html`<section data-key="${contract_address}">
      <h2>
        <a href="${collectionPath({ network: reader.network, contract_address })}">${name}</a>
        ${linkOf?.({ address: contract_address, name })}
      </h2>
      ${renderTokenGrid(reader, { tokens: items, cards })}
    </section>`;
  })}`;
}

async function renderListed(reader: Reader, { accountAddress, cursor }: Options): Promise<Html> {
  const { sql, moment, network } = reader;
  const { rows, next, isFirst } = await loadPage(reader, {
    scope: `account listings ${network} ${accountAddress}`,
    cursor,
    limit: TOKENS,
    load: ({ after, limit }: ListPlace<[string, string]>) =>
      listAccountListings(sql, { ...moment, accountAddress, after, limit }),
    keyOf: (row): [string, string] => [row.contract_address, row.token_id],
  });
  if (rows.length === 0 && isFirst) return html`<p class="muted">It sells nothing now.</p>`;
  const tokens = await listOrderbookTokensOf(sql, { ...moment, accountAddress, tokens: rows });
  const path = accountPath({ network, account_address: accountAddress }, "listed");
  return html`${await renderByCollection(reader, tokens)} ${renderPager({ path, next, isFirst })}`;
}

/** The account's events within a window of events. A page may be short although the next one has more events. */
async function renderEvents(reader: Reader, { accountAddress, cursor }: Options): Promise<Html> {
  const { sql, chainId, network } = reader;
  const { rows, next, end, isFirst } = await loadWindow(reader, {
    scope: `account events ${network} ${accountAddress}`,
    cursor,
    load: (before: EventKey | undefined) => listAccountEvents(sql, { chainId, accountAddress, before, limit: EVENTS }),
  });
  const cards = await loadCards(reader, rows);
  const path = accountPath({ network, account_address: accountAddress }, "events");
  return html`${renderEventTable(reader, { events: rows, cards, caption: "Activity of the account", id: "events" })}
  ${rows.length < EVENTS && end && html`<p class="muted">Looked at events back to block ${end[0]}.</p>`}
  ${renderPager({ path, next, isFirst, label: "Older" })}`;
}
