import { html } from "hono/html";
import type { Html } from "./html.ts";

/** A button that copies a text. It is seen where the page's script may do so. `what`: what it copies, for who hears it. */
export const renderCopyButton = (text: string, { what }: { what: string }): Html =>
  html`<button type="button" class="copy" data-copy="${text}" aria-live="polite">
    <span>Copy</span><span class="hidden"> ${what}</span>
  </button>`;
