import { html } from "hono/html";
import type { Collection } from "../api/marketplace/collection.ts";
import { listCollections } from "../api/marketplace/collection.ts";
import { findFloor } from "../api/orderbook/collection-floor.ts";
import { isVerified } from "../api/marketplace/collection-verification.ts";
import { findContract } from "../api/token/contract.ts";
import { unknownContract } from "../api/http/errors.ts";
import { listEvents } from "../api/token/event.ts";
import { countHolders } from "../api/token/holder.ts";
import { type ListedKey, listListings } from "../api/orderbook/listed-token.ts";
import { listCollectionTokens, listOrderbookTokens } from "../api/orderbook/orderbook.ts";
import { collectionName } from "./collection-list.ts";
import { renderAmount } from "./currency.ts";
import { renderEventTable } from "./event-table.ts";
import { eventKey } from "./events-page.ts";
import type { Html, Page } from "./html.ts";
import { renderFact } from "./network-card.ts";
import { renderPager } from "./pager.ts";
import { type CollectionView, collectionPath } from "./path.ts";
import { type Explorer, type ListPage, type ListPlace, loadPage, type Reader } from "./reader.ts";
import { renderTabs } from "./tabs.ts";
import { formatCount, paragraphs } from "./text.ts";
import { loadCards, renderTokenGrid } from "./token-grid.ts";

const TOKENS = 24;
const EVENTS = 25;
const MAX_DESCRIPTION_LENGTH = 1500;
const ZERO_ADDRESS = `0x${"0".repeat(40)}`;

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
    network === "mainnet" && isVerified(sql, { contractAddress }),
    view === "events" ? renderEvents(reader, options) : renderTokens(reader, options),
  ]);
  if (!contract) throw unknownContract(contractAddress);
  const path = (to: CollectionView) => collectionPath({ network, contract_address: contractAddress }, to);
  const name = collectionName(contract);
  return {
    title: name,
    isUnfinished: counts === undefined,
    body: html`<div class="head">
        <h1>${name} ${verified && html`<span class="tag verified">verified</span>`}</h1>
        <p class="muted">
          ${contract.symbol && html`${paragraphs(contract.symbol, 30)} · `}${contract.contract_type} ·
          <span class="hex whole">${contractAddress}</span> · ${network}
        </p>
        ${renderDescription(about)}
        <dl class="stats" id="stats" data-live>
          ${renderFact("Tokens", counts ? formatCount(counts.tokens) : "counting…")}
          ${renderFact("Owners", counts ? formatCount(counts.owners) : "counting…")}
          ${renderFact("Floor", floor === null ? "nothing listed" : renderAmount(floor, { chainId, currencyAddress: ZERO_ADDRESS }))}
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

const renderDescription = (about: Collection | undefined) =>
  about !== undefined &&
  about.collection_description !== "" &&
  html`<p class="description">${paragraphs(about.collection_description, MAX_DESCRIPTION_LENGTH)}</p>`;

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
  if (rows.length === 0)
    return html`<p class="muted">${view === "listed" ? "Nothing is on sale now." : "No tokens."}</p>`;
  return html`<div id="tokens" data-live>${renderTokenGrid(reader, { tokens: rows, cards })}</div>
    ${renderPager({ path: collectionPath({ network, contract_address: contractAddress }, view), next, isFirst })}`;
}

/** Those on sale, the cheapest first. */
async function loadListed(
  reader: Reader,
  { contractAddress, cursor }: { contractAddress: string; cursor: string | undefined },
): Promise<ListPage<Awaited<ReturnType<typeof listOrderbookTokens>>[number]>> {
  const { sql, moment, network } = reader;
  const page = await loadPage(reader, {
    scope: `listed ${network} ${contractAddress}`,
    cursor,
    limit: TOKENS,
    load: ({ after, limit }: ListPlace<ListedKey>) => listListings(sql, { ...moment, contractAddress, after, limit }),
    keyOf: ({ key }) => key,
  });
  const tokens = page.rows.map(({ token_id }) => ({ contract_address: contractAddress, token_id }));
  const found = await listOrderbookTokens(sql, { ...moment, tokens });
  const bests = new Map(found.map((row) => [row.order_hash, row]));
  return { ...page, rows: page.rows.map(({ key }) => bests.get(key[2])).filter((row) => row !== undefined) };
}

async function renderEvents(reader: Reader, { contractAddress, cursor }: Options): Promise<Html> {
  const { sql, chainId, network } = reader;
  const { rows, next, isFirst } = await loadPage(reader, {
    scope: `events ${network} ${contractAddress}`,
    cursor,
    limit: EVENTS,
    load: ({ after, limit }) => listEvents(sql, { chainId, contractAddress, before: after, limit }),
    keyOf: eventKey,
  });
  const cards = await loadCards(reader, rows);
  const path = collectionPath({ network, contract_address: contractAddress }, "events");
  return html`${renderEventTable(reader, { events: rows, cards, caption: "Activity of the collection", id: "events" })}
  ${renderPager({ path, next, isFirst, label: "Older" })}`;
}
