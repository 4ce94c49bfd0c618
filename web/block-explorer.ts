import { html } from "hono/html";
import { blockExplorerUrl } from "./chain.ts";
import type { Html } from "./html.ts";

/** A link to an address in the chain's block explorer, by its host. Nothing where none is known. */
export function renderAddressLink(address: string, { chainId }: { chainId: number }): Html | "" {
  const url = blockExplorerUrl(chainId, `address/${address}`);
  return url === undefined ? "" : renderLink(url, new URL(url).host);
}

/** When something happened, as a link to its transaction in the chain's block explorer. Only the time where none is known. */
export function renderTransactionTime(time: Html, { chainId, hash }: { chainId: number; hash: string }): Html {
  const url = blockExplorerUrl(chainId, `tx/${hash}`);
  if (url === undefined) return time;
  return renderLink(url, html`${time}<span class="hidden">, transaction at ${new URL(url).host}</span>`);
}

const renderLink = (url: string, text: Html | string): Html =>
  html`<a href="${url}" rel="noopener noreferrer external" target="_blank">${text}</a>`;
