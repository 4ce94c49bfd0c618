import { html } from "hono/html";
import type { Page } from "./html.ts";
import { HOME_PATH } from "./path.ts";

/** Says why there is no page. If it may be there soon, the page asks again by itself. */
export function renderError({
  status,
  message,
  requestId,
  isStill,
}: {
  status: number;
  message: string;
  requestId: string;
  isStill: boolean;
}): Page {
  const isPassing = status === 429 || status === 503;
  return {
    title: `Error ${status}`,
    isUnfinished: isPassing,
    isStill,
    body: html`<h1>${status === 404 ? "Not here" : isPassing ? "Not now" : "That didn’t work"}</h1>
      <p>${message}</p>
      ${status >= 500 && html`<p class="muted">Request ${requestId}</p>`}
      <p><a href="${HOME_PATH}">Home</a></p>`,
  };
}
