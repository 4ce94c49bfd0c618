import { Hono } from "hono";
import { DOCS_HEADERS, renderDocs } from "./docs.ts";
import type { Env } from "../http/request-state.ts";
import { send } from "../http/send.ts";
import { createOpenApiDocument } from "./openapi.ts";
import { refuseOtherMethods } from "../http/route.ts";
import type { ShownDocument } from "./shown-document.ts";

/** The OpenAPI document and its reader, both made once. */
export function createDocsApi(): Hono<Env> {
  const app = new Hono<Env>();
  const document = createOpenApiDocument();
  const json = JSON.stringify(document, null, 2);
  const page = renderDocs(document as ShownDocument);

  app.get("/openapi.json", (c) => {
    c.get("state").route = "/openapi.json";
    return send(c, { body: json, isCacheable: true });
  });
  app.get("/docs", async (c) => {
    c.get("state").route = "/docs";
    const body = String(await page);
    return send(c, { body, contentType: "text/html; charset=utf-8", headers: DOCS_HEADERS, isCacheable: true });
  });
  refuseOtherMethods(app);
  return app;
}
