import { html } from "hono/html";
import type { EventRow } from "../api/token/event.ts";
import { renderTransactionTime } from "./block-explorer.ts";
import { renderAmount } from "./currency.ts";
import type { Html } from "./html.ts";
import { renderAccount } from "./link.ts";
import { collectionPath, tokenPath } from "./path.ts";
import { renderThumbnail } from "./picture.ts";
import type { Reader } from "./reader.ts";
import { numberHead, renderTable } from "./table.ts";
import { oneLine, renderTime, renderUnits, shorten } from "./text.ts";
import type { Cards } from "./token-grid.ts";

type Shown = EventRow & { contract_name?: string };

/** Events as a table. `cards`: names and pictures of their tokens; left out in the table of one token. */
export function renderEventTable(
  { network, chainId }: Reader,
  { events, cards, caption, id }: { events: readonly Shown[]; cards?: Cards; caption: string; id: string },
): Html {
  if (events.length === 0) return html`<p class="muted" id="${id}">No events.</p>`;
  const hasCollections = events.some(({ contract_name }) => contract_name !== undefined);
  return renderTable(caption, {
    kind: "moves",
    id,
    heads: ["Event", cards && "Token", hasCollections && "Collection", "From", "To", numberHead("Price"), "When"],
    rows: events.map(
      (event) =>
        html`<tr data-key="${event.transaction_hash}-${event.log_index}-${event.batch_index}">
          <td><span class="tag ${event.event_type}">${event.event_type}</span>${renderQuantity(event)}</td>
          ${
            cards &&
            html`<td>
              <a class="token" href="${tokenPath({ network, ...event })}"
                >${renderThumbnail(cards.of(event))}<span>${cards.nameOf(event)}</span></a
              >
            </td>`
          }
          ${hasCollections && html`<td>${renderCollection(event, { network })}</td>`}
          <td class="from">${renderAccount(event.from_address, { network })}</td>
          <td class="to">${renderAccount(event.to_address, { network })}</td>
          <td class="number">${event.event_type === "sale" && renderPrice(event, { chainId })}</td>
          <td title="Block ${event.block_number}, transaction ${event.transaction_hash}">
            ${renderTransactionTime(renderTime(event.timestamp), { chainId, hash: event.transaction_hash })}
          </td>
        </tr>`,
    ),
  });
}

const renderQuantity = ({ quantity }: Shown) =>
  quantity !== "1" && html` <span class="muted">× ${renderUnits(quantity)}</span>`;

function renderCollection({ contract_address, contract_name = "" }: Shown, { network }: Pick<Reader, "network">): Html {
  const name = oneLine(contract_name, 40) || shorten(contract_address);
  return html`<a class="cut" href="${collectionPath({ network, contract_address })}">${name}</a>`;
}

/** A sale's price and what it is where that isn't simply what was paid, or why it is unknown, and its marketplace. */
function renderPrice(event: Shown, { chainId }: { chainId: number }): Html {
  const { price, currency_address: currencyAddress, price_note: note, marketplace } = event;
  const shown =
    price === null || currencyAddress === null
      ? html`<span class="muted">${note ?? "unknown"}</span>`
      : html`${renderAmount(price, { chainId, currencyAddress })}${note !== null && html` <span class="muted">(${note})</span>`}`;
  return html`${shown} <span class="muted">${marketplace}</span>`;
}
