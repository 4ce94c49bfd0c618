import { html } from "hono/html";
import type { Html } from "./html.ts";

/** The end of a page's title, by the view that is open. */
export const VIEW_TITLES = { "": "", listed: ", listed", events: ", activity" };

/** Links between the views of one thing. */
export const renderTabs = (label: string, tabs: { text: string; path: string; isCurrent: boolean }[]): Html =>
  html`<nav class="tabs" aria-label="${label}">
    ${tabs.map(
      ({ text, path, isCurrent }) => html`<a href="${path}" ${isCurrent ? html`aria-current="page"` : ""}>${text}</a>`,
    )}
  </nav>`;
