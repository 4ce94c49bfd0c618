import { html } from "hono/html";
import type { Html } from "./html.ts";

/** `kind`: its class. `caption`: shown above it, where that is more than its name. `id`: of its rows. */
type Table = {
  heads: readonly (string | Html | false | undefined)[];
  rows: readonly Html[];
  kind?: string;
  caption?: string;
  id?: string;
};

/** The head of a column of numbers. */
export const numberHead = (text: string): Html => html`<th scope="col" class="number">${text}</th>`;

/** A table that scrolls by itself where it is wider than the page. */
export const renderTable = (name: string, { heads, rows, kind = "", caption, id }: Table): Html =>
  html`<div class="scroll" tabindex="0" role="group" aria-label="${name}">
    <table class="${kind}">
      <caption class="${caption === undefined ? "hidden" : ""}">
        ${caption ?? name}
      </caption>
      <thead>
        <tr>
          ${heads.map((head) => (typeof head === "string" ? html`<th scope="col">${head}</th>` : head))}
        </tr>
      </thead>
      <tbody ${id === undefined ? "" : html`id="${id}"`}>
        ${rows}
      </tbody>
    </table>
  </div>`;
