import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { findFreePort } from "./free-port.ts";

test("a free port can be listened on, and is none that an outgoing connection may have by then", async () => {
  for (let time = 0; time < 20; time++) {
    const port = await findFreePort();
    expect(port).toBeGreaterThanOrEqual(10_000);
    expect(port).toBeLessThan(32_768);
    const server = createServer().listen(port, "127.0.0.1");
    await once(server, "listening");
    server.close();
  }
});
