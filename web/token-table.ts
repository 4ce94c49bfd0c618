import { html } from "hono/html";
import type { HolderRow } from "../api/token/holder.ts";
import type { HistoryEntry } from "../api/orderbook/order-history.ts";
import type { Offer } from "../api/orderbook/token-offer.ts";
import type { Html } from "./html.ts";
import { renderAccount } from "./link.ts";
import type { Reader } from "./reader.ts";
import { numberHead, renderTable } from "./table.ts";
import { renderTime, renderUnits } from "./text.ts";
import { renderAmount } from "./currency.ts";

/** Small tables of a token's page. */

const currencyOf = ({ currency_address: currencyAddress }: Offer | HistoryEntry, { chainId }: Reader) => ({
  chainId,
  currencyAddress,
});

/** The holders of a token, in the order of the rows. */
export function renderHolders(reader: Reader, rows: readonly HolderRow[]): Html {
  if (rows.length === 0) return html`<p class="muted">Nobody holds it.</p>`;
  return renderTable("Owners", {
    heads: ["Owner", numberHead("Units")],
    rows: rows.map(
      ({ owner, balance }) =>
        html`<tr data-key="${owner}">
          <td>${renderAccount(owner, reader)}</td>
          <td class="number">${renderUnits(balance)}</td>
        </tr>`,
    ),
  });
}

/** The offers on a token, in the order of the rows. */
export function renderOffers(reader: Reader, rows: readonly Offer[]): Html {
  if (rows.length === 0) return html`<p class="muted">No offers now.</p>`;
  return renderTable("Offers", {
    heads: ["By", numberHead("Amount"), numberHead("Units"), "Made"],
    rows: rows.map(
      (offer) =>
        html`<tr data-key="${offer.order_hash}">
          <td>${renderAccount(offer.offer_maker, reader)}</td>
          <td class="number">${renderAmount(offer.offer_amount, currencyOf(offer, reader))}</td>
          <td class="number">${renderUnits(offer.offer_quantity)}</td>
          <td>${renderTime(offer.offer_timestamp)}</td>
        </tr>`,
    ),
  });
}

const STATUS_WORDS: Record<HistoryEntry["order_status"], string> = {
  PLACED: "placed",
  FULFILLED: "bought",
  CANCELLED: "cancelled",
  EXECUTED: "accepted",
};

/** What tells an entry from others: two of one key are the same to whoever looks at them. */
const orderKey = (entry: HistoryEntry) =>
  [
    entry.event_type,
    entry.order_status,
    entry.event_timestamp,
    entry.previous_owner,
    entry.new_owner,
    entry.amount,
    entry.currency_address,
  ].join("-");

/** What became of a token's orders, in the order of the rows. */
export function renderOrders(reader: Reader, rows: readonly HistoryEntry[]): Html {
  if (rows.length === 0) return html`<p class="muted">No orders yet.</p>`;
  return renderTable("Orders", {
    kind: "moves",
    heads: ["Order", "Status", "From", "To", numberHead("Amount"), "When"],
    rows: rows.map(
      (entry) =>
        html`<tr data-key="${orderKey(entry)}">
          <td>${entry.event_type === "CollectionOffer" ? "Collection offer" : entry.event_type}</td>
          <td>${STATUS_WORDS[entry.order_status]}</td>
          <td class="from">${entry.previous_owner && renderAccount(entry.previous_owner, reader)}</td>
          <td class="to">${entry.new_owner && renderAccount(entry.new_owner, reader)}</td>
          <td class="number">
            ${
              entry.currency_address === ""
                ? html`<span class="muted">unknown</span>`
                : renderAmount(entry.amount, currencyOf(entry, reader))
            }
          </td>
          <td>${renderTime(entry.event_timestamp)}</td>
        </tr>`,
    ),
  });
}
