import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { HttpError, notFound, quote, toHttpError } from "../api/http/errors.ts";
import type { Env } from "../api/http/request-state.ts";
import { send } from "../api/http/send.ts";
import { describeError } from "../api/log.ts";
import { refuseOtherMethods } from "../api/http/route.ts";
import type { CreatePages } from "../api/server.ts";
import { ANSWER_WITHIN_MS, answerWithin, within } from "../api/sql/deadline.ts";
import { ASSET_HEADERS, ASSETS, ICON } from "./asset.ts";
import { renderError } from "./error-page.ts";
import { FORM_GUARDS, FORMS, guardMessage } from "./form.ts";
import type { Page } from "./html.ts";
import { PAGE_HEADERS, pulseOf, renderLayout } from "./layout.ts";
import { isMediaView, MISSING_MEDIA_HEADERS, renderMissingMedia } from "./missing-media.ts";
import { PULSE_PATH } from "./path.ts";
import type { Explorer } from "./reader.ts";
import { startSamples } from "./samples.ts";
import { PAGES } from "./routes.ts";
import { createSlowValues } from "./slow-value.ts";

/** Browsers ask for it by themselves beside what names no icon, like /status. */
const FAVICON_PATH = "/favicon.ico";

const HTML = "text/html; charset=utf-8";
const isPage = (path: string) => path === "/" || path === "/explorer" || path.startsWith("/explorer/");
const isRead = (c: Context<Env>) => isPage(c.req.path) || isMediaView(c);

/** The pages that people read: `/` and all below `/explorer`. */
export const createExplorer: CreatePages = (sources) => {
  const { monitor, log } = sources;
  const explorer: Explorer = {
    ...sources,
    largest: createSlowValues({ log }),
    holders: createSlowValues({ log }),
    samples: startSamples(monitor),
  };
  const app = new Hono<Env>();

  mountAssets(app);
  app.get(PULSE_PATH, (c) => {
    c.get("state").route = PULSE_PATH;
    return send(c, { body: pulseOf(monitor), contentType: "text/plain", headers: { "cache-control": "no-store" } });
  });

  for (const [path, render] of PAGES) {
    app.get(path, async (c) => {
      c.get("state").route = path;
      // The pulse is taken before rendering, because the page may lack what happens meanwhile.
      const pulse = pulseOf(monitor);
      const page = await answerWithin(ANSWER_WITHIN_MS, async () => render(explorer, c));
      return "redirect" in page ? redirect(c, page.redirect, 302) : sendPage(c, page, { pulse });
    });
  }
  for (const { path, handle } of FORMS) {
    app.post(path, ...FORM_GUARDS, async (c) => {
      c.get("state").route = path;
      const page = await within(ANSWER_WITHIN_MS, handle(explorer, c));
      return "redirect" in page ? redirect(c, page.redirect, 303) : sendPage(c, page, { status: 200, isSecret: true });
    });
  }
  refuseOtherMethods(app);
  mountUnknown(app);

  const refuse = async (error: Error, c: Context<Env>) => {
    const { requestId } = c.get("state");
    const known =
      error instanceof HTTPException ? new HttpError(error.status, guardMessage(error.status)) : toHttpError(error);
    if (!known) log("error", "request failed", { request_id: requestId, ...describeError(error) });
    const { status, message, headers } = known ?? new HttpError(500, "Something went wrong on our side.");
    if (isMediaView(c)) {
      const body = String(await renderMissingMedia({ status, message }));
      return send(c, { status, body, contentType: HTML, headers: { ...MISSING_MEDIA_HEADERS, ...headers } });
    }
    const page = renderError({ status, message, requestId, isStill: c.req.method !== "GET" });
    return sendPage(c, page, { status, headers, isSecret: true });
  };
  app.onError(refuse);

  async function sendPage(
    c: Context<Env>,
    page: Page,
    {
      pulse = pulseOf(monitor),
      status = 200,
      headers = {},
      isSecret = false,
    }: { pulse?: string; status?: HttpError["status"]; headers?: Record<string, string>; isSecret?: boolean } = {},
  ): Promise<Response> {
    const query = c.req.query("q") ?? "";
    const body = await renderLayout(page, { path: c.req.path, pulse, query });
    return send(c, {
      status,
      body: String(body),
      contentType: HTML,
      headers: { ...PAGE_HEADERS, ...headers, ...(isSecret && { "cache-control": "no-store" }) },
      isCacheable: !isSecret,
    });
  }

  return { app, isPage, isRead, refuse, stop: explorer.samples.stop };
};

/** Adds the files that pages load. */
function mountAssets(app: Hono<Env>): void {
  for (const { path, body, contentType } of ASSETS) {
    app.get(path, (c) => {
      c.get("state").route = path;
      return send(c, { body, contentType, headers: ASSET_HEADERS });
    });
  }
  app.get(FAVICON_PATH, (c) => {
    c.get("state").route = FAVICON_PATH;
    const { body, contentType } = ICON;
    return send(c, { body, contentType, headers: { ...ASSET_HEADERS, "cache-control": "public, max-age=86400" } });
  });
}

/** Adds what is at no page: its path may only have a slash too many. */
function mountUnknown(app: Hono<Env>): void {
  app.get("/explorer/*", async (c, next) => {
    const { pathname, search } = new URL(c.req.url);
    return pathname.endsWith("/") ? redirect(c, withoutEnd(pathname) + search, 302) : next();
  });
  app.all("/explorer/*", (c) => {
    throw notFound(`There is nothing at ${quote(c.req.path)}.`);
  });
}

/** A path without slashes at its end. Not by a regular expression, which takes quadratic time for 30,000 slashes. */
function withoutEnd(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

function redirect(c: Context<Env>, to: string, status: 302 | 303): Promise<Response> {
  return send(c, {
    status,
    body: "",
    contentType: "text/plain",
    headers: { location: to, "cache-control": "no-store" },
  });
}
