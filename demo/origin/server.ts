import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { meadowDocument, meadowSvg } from "./meadow.ts";
import { mothCollection, mothDocument, mothGif, mothHtml, mothPng, mothWav } from "./moth.ts";

/** A web server with the documents and media of the contracts that keep them off the chain. */
type Origin = { host: string; stop: () => Promise<void> };

type Answer = { type: string; body: string | Buffer };

/**
 * Starts it on 127.0.0.1. What it serves is made on the spot and is the same each time.
 *
 * @param options.port 0 for a free one
 */
export async function startOrigin({ port }: { port: number }): Promise<Origin> {
  const server = createServer((request, response) => {
    const path = request.url?.split("?")[0] ?? "/";
    const answer = answerTo(path, { originUrl: `http://${host}` });
    response.writeHead(answer ? 200 : 404, {
      "content-type": answer?.type ?? "application/json",
      "cache-control": "public, max-age=60",
    });
    if (request.method === "HEAD") response.end();
    else response.end(answer?.body ?? '{"error":"not found"}');
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** What lies at a path, or undefined. */
export function answerTo(path: string, { originUrl }: { originUrl: string }): Answer | undefined {
  if (path === "/moths/collection.json") return json(mothCollection({ originUrl }));

  const moth = /^\/moths\/(\d{1,9})\.(json|png|gif|wav|html)$/.exec(path);
  if (moth) {
    const id = Number(moth[1]);
    switch (moth[2]) {
      case "json":
        return json(mothDocument(id, { originUrl }));
      case "png":
        return { type: "image/png", body: mothPng(id) };
      case "gif":
        return { type: "image/gif", body: mothGif(id) };
      case "wav":
        return { type: "audio/wav", body: mothWav(id) };
      default:
        return { type: "text/html; charset=utf-8", body: mothHtml(id, { originUrl }) };
    }
  }

  const seed = /^\/meadow\/([0-9a-f]{64})\.(json|svg)$/.exec(path);
  if (seed) {
    const id = BigInt(`0x${seed[1]}`);
    if (seed[2] === "json") return json(meadowDocument(id, { originUrl }));
    return { type: "image/svg+xml", body: meadowSvg(id) };
  }
  return undefined;
}

function json(document: object): Answer {
  return { type: "application/json", body: JSON.stringify(document) };
}
