import { html } from "hono/html";
import type { EventKey } from "../api/token/event.ts";
import { listNewestEvents } from "../api/token/newest-event.ts";
import { renderEventTable } from "./event-table.ts";
import type { Page } from "./html.ts";
import { loadWindow } from "./list-page.ts";
import { renderPager } from "./pager.ts";
import { newestPath } from "./path.ts";
import type { Reader } from "./reader.ts";
import { loadCards } from "./token-grid.ts";

const EVENTS = 25;

/** All events of a network, newest first. */
export async function renderNewest(reader: Reader, { cursor }: { cursor: string | undefined }): Promise<Page> {
  const { network, sql, chainId } = reader;
  const { rows, next, isFirst } = await loadWindow(reader, {
    scope: `events ${network}`,
    cursor,
    load: (before: EventKey | undefined) => listNewestEvents(sql, { chainId, before, limit: EVENTS }),
  });
  const cards = await loadCards(reader, rows);
  return {
    title: `Activity on ${network}`,
    body: html`<h1>Activity <span class="muted">${network}</span></h1>
      ${renderEventTable(reader, { events: rows, cards, caption: `Activity on ${network}`, id: "events" })}
      ${renderPager({ path: newestPath(network), next, isFirst, label: "Older" })}`,
  };
}
