import { html } from "hono/html";
import { listShownContracts } from "../api/marketplace/collection.ts";
import type { CollectionRank } from "../api/marketplace/collection-rank.ts";
import { findContract, listContracts } from "../api/token/contract.ts";
import { listNewestEvents } from "../api/token/newest-event.ts";
import { describeStatus } from "../api/status.ts";
import { renderCollections } from "./collection-list.ts";
import { renderEventTable } from "./event-table.ts";
import type { Html, Page } from "./html.ts";
import { renderNetworkCard } from "./network-card.ts";
import { collectionsPath, newestPath } from "./path.ts";
import { type Explorer, type LargeCollection, listReaders, type Reader } from "./reader.ts";
import { loadCards } from "./token-grid.ts";

const EVENTS = 10;
const COLLECTIONS = 8;

/** Networks, what happened last, and the largest collections. */
export async function renderHome(explorer: Explorer): Promise<Page> {
  const { networks } = describeStatus(explorer.monitor);
  const readers = listReaders(explorer);
  const parts = await Promise.all(readers.map((reader) => renderNetwork(explorer, reader, readers.length > 1)));
  const what = readers.length > 1 ? "NFTs of two chains, from their own logs" : "NFTs of a chain, from its own logs";
  return {
    title: "Explorer",
    isUnfinished: parts.some(({ isCounting }) => isCounting),
    about: `${what}: collections, tokens, owners, sales and offers.`,
    body: html`<h1 class="hidden">${what}</h1>
      <div class="row" id="networks">
        ${Object.entries(networks).map(([name, status]) => status && renderNetworkCard(name, { status, isWhole: false }))}
      </div>
      ${readers.length === 0 && html`<p>Nothing is indexed yet.</p>`} ${parts.map(({ body }) => body)}`,
  };
}

/** A part of the page, and whether its collections are still being counted. */
type Part = { body: Html; isCounting: boolean };

async function renderNetwork(explorer: Explorer, reader: Reader, isOneOfMany: boolean): Promise<Part> {
  const { network, sql, chainId } = reader;
  const suffix = isOneOfMany ? ` on ${network}` : "";
  const [{ rows: events }, collections] = await Promise.all([
    listNewestEvents(sql, { chainId, limit: EVENTS }),
    renderLargest(explorer, reader),
  ]);
  const cards = await loadCards(reader, events);
  const body = html`<section aria-labelledby="newest-${network}">
      <h2 id="newest-${network}">Newest activity${suffix}</h2>
      ${renderEventTable(reader, { events, cards, caption: `Newest activity${suffix}`, id: `events-${network}` })}
      <p><a href="${newestPath(network)}">All activity${suffix}</a></p>
    </section>
    <section aria-labelledby="collections-${network}">
      <h2 id="collections-${network}">Collections${suffix}</h2>
      ${collections.body}
      <p><a href="${collectionsPath(network)}">All collections${suffix}</a></p>
    </section>`;
  return { body, isCounting: collections.isCounting };
}

/** The collections with most tokens; until they are counted, the ones that were seen first. */
async function renderLargest({ largest, ranks, databases }: Explorer, reader: Reader): Promise<Part> {
  const { sql, chainId, network } = reader;
  const known = await largest(network, () => findLargest(ranks[network], { sql: databases.long[network], chainId }));
  if (!known) {
    const contracts = await listContracts(sql, { chainId, after: undefined, limit: COLLECTIONS });
    return { body: await renderCollections(reader, { contracts }), isCounting: known === undefined };
  }
  const found = await Promise.all(
    known.map(({ address }) => findContract(sql, { chainId, contractAddress: `0x${address}` })),
  );
  const contracts = found.filter((contract) => contract !== undefined).slice(0, COLLECTIONS);
  const counts = new Map(known.map(({ address, count }) => [`0x${address}`, count]));
  const countOf = ({ contract_address }: { contract_address: string }) => counts.get(contract_address);
  return { body: await renderCollections(reader, { contracts, countOf }), isCounting: false };
}

/** Finds some more collections than are shown, because those that are hidden later are left out. */
async function findLargest(
  rank: CollectionRank,
  { sql, chainId }: Pick<Reader, "sql" | "chainId">,
): Promise<LargeCollection[]> {
  const addresses = await rank.inOrder(await listShownContracts(sql, { chainId }));
  return addresses.slice(0, COLLECTIONS + 4).map((address) => ({ address, count: rank.countOf(address) }));
}
