import { html } from "hono/html";
import type { Network } from "../config.ts";
import type { Html } from "./html.ts";
import { accountPath } from "./path.ts";
import { isNobody, oneLine, shorten } from "./text.ts";

const MAX_SHOWN = 120;

/**
 * A link from somebody else's text. Only http and https become links; others stay text. It shows the host that it leads
 * to, and sends no referrer there.
 */
export function renderForeignLink(link: string): Html {
  const url = URL.canParse(link) ? new URL(link) : undefined;
  const isWeb = url !== undefined && ["http:", "https:"].includes(url.protocol) && !url.username && !url.password;
  if (!isWeb) return html`<span class="uri">${oneLine(link, MAX_SHOWN)}</span>`;
  return html`<a href="${url.href}" class="uri" rel="noopener noreferrer nofollow ugc external" target="_blank"
      >${oneLine(link, MAX_SHOWN)}</a
    >
    <span class="muted">leads to ${url.host}</span>`;
}

/**
 * A link to an account with its shortened address; the title has the whole one. The zero address is shown as nobody.
 */
export function renderAccount(address: string, { network }: { network: Network }): Html {
  if (isNobody(address)) return html`<span class="muted">nobody</span>`;
  return html`<a class="hex" href="${accountPath({ network, account_address: address })}" title="${address}"
    >${shorten(address)}</a
  >`;
}
