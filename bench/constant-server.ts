/** What the API is measured against: Hono with a constant text of `/SIZE` bytes. Prints "constant at PORT". */
import { serve } from "@hono/node-server";
import { Hono } from "hono";

const texts = new Map<string, string>();
const app = new Hono();
app.get("/:size", (c) => {
  const size = c.req.param("size");
  let text = texts.get(size);
  if (text === undefined) texts.set(size, (text = `{"result":"${"x".repeat(Number(size) - 13)}"}`));
  return c.body(text, 200, { "content-type": "application/json" });
});
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => console.log(`constant at ${port}`));
