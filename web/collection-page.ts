import { html } from "hono/html";
import { zeroAddress } from "viem";
import { type Collection, listCollections } from "../api/marketplace/collection.ts";
import { findFloor } from "../api/orderbook/floor.ts";
import { findContract } from "../api/token/contract.ts";
import { unknownContract } from "../api/http/errors.ts";
import { eventRowKey, listEvents } from "../api/token/event.ts";
import { countHolders } from "../api/token/holder.ts";
import { type ListedKey, listListings } from "../api/orderbook/listed-token.ts";
import { listCollectionTokens, listOrderbookTokens, type OrderbookRow } from "../api/orderbook/orderbook.ts";
import { decodeCursor, encodeCursor } from "../api/http/cursor.ts";
import { renderAddressLink } from "./block-explorer.ts";
import { collectionName, findVerifiedOn, VERIFIED_TAG } from "./collection-list.ts";
import { renderCopyButton } from "./copy-button.ts";
import { renderAmount } from "./currency.ts";
import { renderEventTable } from "./event-table.ts";
import { renderFact } from "./fact.ts";
import type { Html, Page } from "./html.ts";
import { type ListPage, type ListPlace, loadPage, scopeOfList } from "./list-page.ts";
import { NONE_ON_PAGE, renderPager } from "./pager.ts";
import { type CollectionView, collectionPath } from "./path.ts";
import type { Explorer, Reader } from "./reader.ts";
import { renderTabs, VIEW_TITLES } from "./tabs.ts";
import { formatCount, oneLine, paragraphs } from "./text.ts";
import { loadCards, renderTokenGrid } from "./token-grid.ts";

const TOKENS = 24;
const EVENTS = 25;
/** Listings that are read at a time, and how often a page reads: a token may have any number of dearer listings. */
const LISTINGS = 50;
const MAX_LOOKS = 10;
const MAX_DESCRIPTION_LENGTH = 1500;

/** As `listListings` has them. What changes may be the floor by now. */
const LISTED_ORDER = html`<p class="muted">
  The lowest fixed price first; prices that change, or are in another currency, come last.
</p>`;

type Options = { contractAddress: string; view: CollectionView; cursor: string | undefined };

/** A collection: its tokens, those on sale, or its events. @throws HttpError 404 */
export async function renderCollection(explorer: Explorer, reader: Reader, options: Options): Promise<Page> {
  const { sql, chainId, moment, network } = reader;
  const { contractAddress, view } = options;
  const [contract, [about], counts, floor, verified, list] = await Promise.all([
    findContract(sql, { chainId, contractAddress }),
    listCollections(sql, { chainId, addresses: [contractAddress.slice(2)] }),
    explorer.holders(`${network} ${contractAddress}`, () => countHolders(sql, { contractAddress })),
    findFloor(sql, { ...moment, contractAddress }),
    findVerifiedOn(reader, { addresses: [contractAddress] }),
    view === "events" ? renderEvents(reader, options) : renderTokens(reader, options),
  ]);
  if (!contract) throw unknownContract(contractAddress);
  const path = (to: CollectionView) => collectionPath({ network, contract_address: contractAddress }, to);
  const name = collectionName(contract);
  const symbol = oneLine(contract.symbol, 30);
  return {
    title: `${name}${VIEW_TITLES[view]}`,
    about: about?.collection_description ?? "",
    isUnfinished: counts === undefined,
    body: html`<div class="head">
        <h1>${name} ${verified.has(contractAddress) && VERIFIED_TAG}</h1>
        <p class="muted">
          ${symbol && html`<bdi>${symbol}</bdi> · `}${contract.contract_type} ·
          <span class="hex whole">${contractAddress}</span>
          ${renderCopyButton(contractAddress, { what: "contract address" })} · ${network}
          ${renderAddressLink(contractAddress, { chainId })}
        </p>
        ${renderDescription(about)}
        <dl class="stats" id="stats">
          ${renderFact("Tokens", renderCount(counts && counts.tokens))}
          ${renderFact("Owners", renderCount(counts && counts.owners))}
          ${renderFact("Floor", floor === null ? "nothing listed" : renderAmount(floor, { chainId, currencyAddress: zeroAddress }))}
        </dl>
      </div>
      ${renderTabs(`Views of ${name}`, [
        { text: "Tokens", path: path(""), isCurrent: view === "" },
        { text: "Listed", path: path("listed"), isCurrent: view === "listed" },
        { text: "Activity", path: path("events"), isCurrent: view === "events" },
      ])}
      ${list}`,
  };
}

/** `count` is null where counting took longer than a statement may take, undefined while it goes on. */
function renderCount(count: number | null | undefined): Html | string {
  if (count === null) return html`<span title="Too many to count">–</span>`;
  return count === undefined ? "counting…" : formatCount(count);
}

function renderDescription(about: Collection | undefined): Html | false {
  const description = paragraphs(about?.collection_description ?? "", MAX_DESCRIPTION_LENGTH);
  return description !== "" && html`<p class="description">${description}</p>`;
}

async function renderTokens(reader: Reader, { contractAddress, view, cursor }: Options): Promise<Html> {
  const { sql, moment, network } = reader;
  const { rows, next, isFirst } = await (view === "listed"
    ? loadListed(reader, { contractAddress, cursor })
    : loadPage(reader, {
        scope: `tokens ${network} ${contractAddress}`,
        cursor,
        limit: TOKENS,
        load: ({ after, limit }: ListPlace<[string]>) =>
          listCollectionTokens(sql, { ...moment, contractAddress, after: after?.[0], limit }),
        keyOf: (row): [string] => [row.token_id],
      }));
  const cards = await loadCards(reader, rows);
  const none = view === "listed" ? "Nothing is on sale now." : "No tokens.";
  const isAll = isFirst && next === undefined;
  return html`${view === "listed" && rows.length > 0 && LISTED_ORDER}
    <div id="tokens">
      ${
        rows.length > 0
          ? renderTokenGrid(reader, { tokens: rows, cards })
          : isAll
            ? html`<p class="muted">${none}</p>`
            : NONE_ON_PAGE
      }
    </div>
    ${renderPager({ path: collectionPath({ network, contract_address: contractAddress }, view), next, isFirst })}`;
}

/** Tokens on sale in that order: of all listings, only those that are the best of their token. */
async function loadListed(
  reader: Reader,
  { contractAddress, cursor }: { contractAddress: string; cursor: string | undefined },
): Promise<ListPage<OrderbookRow>> {
  const { sql, moment, network, secret } = reader;
  const scope = scopeOfList(`listed ${network} ${contractAddress}`);
  let after = cursor === undefined ? undefined : (decodeCursor(secret, { scope, cursor }) as ListedKey);
  const bests = new Map<string, OrderbookRow>();
  const found: { row: OrderbookRow; key: ListedKey }[] = [];
  let isEnd = false;
  for (let looks = 0; looks < MAX_LOOKS && !isEnd && found.length <= TOKENS; looks += 1) {
    const listings = await listListings(sql, { ...moment, contractAddress, after, limit: LISTINGS });
    const ids = new Set(listings.map(({ token_id }) => token_id).filter((id) => !bests.has(id)));
    const tokens = [...ids].map((token_id) => ({ contract_address: contractAddress, token_id }));
    for (const row of await listOrderbookTokens(sql, { ...moment, tokens })) bests.set(row.token_id, row);
    for (const { token_id, key } of listings) {
      const row = bests.get(token_id);
      if (row?.order_hash === key[2] && row.exchange_address === key[3]) found.push({ row, key });
    }
    after = listings.at(-1)?.key ?? after;
    isEnd = listings.length < LISTINGS;
  }
  const shown = found.slice(0, TOKENS);
  const last = found.length > TOKENS ? shown.at(-1)?.key : isEnd ? undefined : after;
  return {
    rows: shown.map(({ row }) => row),
    next: last && encodeCursor(secret, { scope, key: last }),
    isFirst: cursor === undefined,
  };
}

async function renderEvents(reader: Reader, { contractAddress, cursor }: Options): Promise<Html> {
  const { sql, chainId, network } = reader;
  const { rows, next, isFirst } = await loadPage(reader, {
    scope: `events ${network} ${contractAddress}`,
    cursor,
    limit: EVENTS,
    load: ({ after, limit }) => listEvents(sql, { chainId, contractAddress, before: after, limit }),
    keyOf: eventRowKey,
  });
  const cards = await loadCards(reader, rows);
  const path = collectionPath({ network, contract_address: contractAddress }, "events");
  return html`${renderEventTable(reader, { events: rows, cards, caption: "Activity of the collection", id: "events" })}
  ${renderPager({ path, next, isFirst, label: "Older" })}`;
}
