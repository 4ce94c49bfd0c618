import { html } from "hono/html";
import type { Html } from "./html.ts";

/** A name and its value, as an item of a list of facts. */
export const renderFact = (name: string, value: Html | string): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
