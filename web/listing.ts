import { html } from "hono/html";
import type { OrderbookRow } from "../api/orderbook/orderbook.ts";
import { renderAmount } from "./currency.ts";
import type { Html } from "./html.ts";
import { renderAccount } from "./link.ts";
import type { Reader } from "./reader.ts";
import { renderTime, renderUnits } from "./text.ts";

/** The best listing of a token, or that there is none. */
export function renderListing({ chainId, network }: Reader, row: OrderbookRow | undefined): Html {
  if (!row || row.order_hash === null) return html`<p class="muted">Not on sale now.</p>`;
  const amount = (value: string) => renderAmount(value, { chainId, currencyAddress: row.currency_address });
  return html`<p class="price">${amount(row.current_price)}</p>
    <dl class="facts">
      <dt>Sold by</dt>
      <dd>${renderAccount(row.maker, { network })}</dd>
      <dt>On sale at</dt>
      <dd>${row.marketplace}</dd>
      ${
        row.quantity !== "1" &&
        html`<dt>Units</dt>
          <dd>${renderUnits(row.quantity)}, price for one</dd>`
      }
      ${
        row.end_amount !== null &&
        html`<dt>Price changes</dt>
          <dd>from ${amount(row.start_amount)} to ${amount(row.end_amount)}</dd>`
      }
      <dt>Listed</dt>
      <dd>${renderTime(row.placed_timestamp)}</dd>
      <dt>Ends</dt>
      <dd>${renderTime(row.end_time)}</dd>
      <dt>Brought by</dt>
      <dd>${renderAccount(row.broker, { network })}</dd>
    </dl>`;
}
