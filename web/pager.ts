import { html } from "hono/html";
import type { Html } from "./html.ts";
import { withQuery } from "./path.ts";

/** What a later page shows from which everything has gone. */
export const NONE_ON_PAGE = html`<p class="muted">None on this page.</p>`;

/** Links to the start of a list and to its next page. */
export function renderPager({
  path,
  query = {},
  next,
  isFirst,
  label = "Next",
}: {
  path: string;
  query?: Record<string, string | undefined>;
  next: string | undefined;
  isFirst: boolean;
  label?: string;
}): Html | "" {
  if (isFirst && next === undefined) return "";
  return html`<nav class="pager" aria-label="Pages">
    ${!isFirst && html`<a href="${withQuery(path, query)}">First page</a>`}
    ${next !== undefined && html`<a href="${withQuery(path, { ...query, cursor: next })}" rel="next">${label}</a>`}
  </nav>`;
}
