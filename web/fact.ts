import { html } from "hono/html";
import type { Html } from "./html.ts";

/** One value and what it is, for a list of them. */
export const renderFact = (name: string, value: Html | string): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
