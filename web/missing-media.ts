import type { Context } from "hono";
import { html } from "hono/html";
import type { Env } from "../api/http/request-state.ts";
import type { Html } from "./html.ts";

/** It may stand in a frame of ours, and the theme is the frame's. */
export const MISSING_MEDIA_HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};

/** Whether media are asked for by somebody who looks at them, in a frame or by themselves, as browsers say it. */
export function isMediaView(c: Context<Env>): boolean {
  return c.req.path.startsWith("/media/") && (c.req.header("accept") ?? "").includes("text/html");
}

/** What stands in the place of media that can't be had. */
export function renderMissingMedia({ status, message }: { status: number; message: string }): Html {
  const text = status === 404 ? "No picture" : message;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="color-scheme" content="light dark" />
        <title>${text}</title>
        <style>
          body {
            display: grid;
            place-items: center;
            min-height: 100vh;
            margin: 0;
            font-family: system-ui, sans-serif;
            opacity: 0.7;
          }
        </style>
      </head>
      <body>
        <p>${text}</p>
      </body>
    </html>`;
}
