import { html } from "hono/html";
import type { Monitor } from "../api/monitor.ts";
import { describeStatus } from "../api/status.ts";
import { ICON, SCRIPT, STYLE } from "./asset.ts";
import type { Html, Page } from "./html.ts";
import { DOCS_PATH, HOME_PATH, KEYS_PATH, PULSE_PATH, SEARCH_PATH, STATUS_PATH } from "./path.ts";
import { oneLine } from "./text.ts";

/**
 * A page loads only our own files and runs no inline scripts, so nothing that a token brings along can run. Frames and
 * media are ours, too: /media serves them under an even stricter policy.
 */
export const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; frame-src 'self'; " +
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  // Not "no-referrer", with which forms would have no origin. Each link to another site has noreferrer itself.
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

const LINKS = [
  [HOME_PATH, "Home"],
  [STATUS_PATH, "Status"],
  [KEYS_PATH, "Keys"],
  [DOCS_PATH, "Docs"],
] as const;

/** A whole page. `path`: its own path; `query`: the text in the search field. */
export function renderLayout(page: Page, { path, pulse, query }: { path: string; pulse: string; query: string }): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${oneLine(page.title, 120)} · nft-index</title>
        ${page.about && html`<meta name="description" content="${oneLine(page.about, 160)}" />`}
        <link rel="icon" href="${ICON.path}" type="image/svg+xml" />
        <link rel="stylesheet" href="${STYLE.path}" />
        <script src="${SCRIPT.path}" type="module"></script>
      </head>
      <body data-pulse-url="${PULSE_PATH}" data-pulse="${pulse}" ${page.isUnfinished ? html`data-unfinished` : ""}>
        <a class="skip" href="#main">Skip to content</a>
        <header>
          <a class="brand" href="${HOME_PATH}">nft-index</a>
          <form action="${SEARCH_PATH}" role="search">
            <input
              type="search"
              name="q"
              value="${query}"
              aria-label="Address, address and token id, or collection name"
              placeholder="Address, token or collection"
              autocomplete="off"
              spellcheck="false"
              required
            />
            <button>Search</button>
          </form>
          <nav aria-label="Main">
            ${LINKS.map(([to, text]) => html`<a href="${to}" ${path === to ? html`aria-current="page"` : ""}>${text}</a>`)}
          </nav>
        </header>
        <p class="away" id="away" role="status"></p>
        <main id="main" tabindex="-1" ${page.isStill ? "" : html`data-live`}>${page.body}</main>
        <footer>
          <p>
            Read from the chains’ own logs. Names, pictures and links of tokens are their makers’, not ours.
            <a href="${DOCS_PATH}">API documentation</a>
          </p>
        </footer>
      </body>
    </html>`;
}

/** What pages show of the time itself: listings end, prices fall, and pictures come, also where no block does. */
const LOOK_AGAIN_MS = 60_000;

/** A word made from the status of networks and metadata, and the minute. It changes when pages may have changed. */
export function pulseOf(monitor: Monitor): string {
  const { networks, metadata } = describeStatus(monitor);
  const { tokens, fetched, failing } = metadata;
  return [
    ...Object.entries(networks).map(([name, { state, indexed_block, progress }]) =>
      [name, state, indexed_block, progress].join(" "),
    ),
    [tokens, fetched, failing].join(" "),
    Math.floor(Date.now() / LOOK_AGAIN_MS),
  ].join(";");
}
