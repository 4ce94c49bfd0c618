import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { serveNode } from "../../test/node-server.ts";
import { readConfig } from "../../config.ts";
import { checkRpc } from "./rpc-chain.ts";

/** A node that takes connections, and answers where it has an answer. `refuse` answers in its place. */
const startNode = (answer?: (method: string) => unknown, refuse?: (response: ServerResponse) => void) =>
  serveNode(({ id, method }: { id: number; method: string }, response) => {
    if (refuse) refuse(response);
    else if (answer) response.end(JSON.stringify({ jsonrpc: "2.0", id, result: answer(method) }));
  });

test("a silent node is waited for shortly where another one answers, and alone no longer than is told", async () => {
  await using silent = await startNode();
  await using other = await startNode((method) => (method === "eth_chainId" ? "0x7" : null));
  const check = async (...urls: string[]) => {
    const lines: string[] = [];
    const start = Date.now();
    const settings = readConfig({ MAINNET_RPC_URL: urls.join(",") }).networks.mainnet!;
    const outcome = await checkRpc("MAINNET", settings, { log: (line) => lines.push(line) }).catch(String);
    return { lines, outcome, seconds: (Date.now() - start) / 1000 };
  };
  const [beside, alone] = await Promise.all([check(silent.url, other.url), check(silent.url)]);
  const line = `MAINNET_RPC_URL ${silent.host}: no answer to eth_chainId for 3 s. Waits 10 s where no other answers`;
  expect(beside).toMatchObject({ outcome: { chainId: 7 }, lines: [line] });
  expect(beside.seconds).toBeLessThan(8);
  expect(alone).toMatchObject({ outcome: expect.stringContaining("No answer for 10 s"), lines: [line] });
  expect(alone.seconds).toBeLessThan(15);
});

test("a node that can't be used is told with the reason that it gives, or why nothing came", async () => {
  await using unauthorized = await startNode(undefined, (response) => response.writeHead(401).end("Unknown key"));
  await using forbidden = await startNode(undefined, (response) =>
    response.end('{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"The project has no access"}}'),
  );
  await using page = await startNode(undefined, (response) => response.writeHead(403).end(`<html>${"x".repeat(9000)}`));
  const gone = await startNode();
  await gone.close();
  const check = (url: string) => {
    const settings = readConfig({ MAINNET_RPC_URL: url }).networks.mainnet!;
    return checkRpc("MAINNET", settings, { log: () => {} }).then(
      () => "",
      (error: Error) => error.message,
    );
  };
  expect(await check(unauthorized.url)).toContain(
    `(${unauthorized.host}: HTTP request failed. Status 401. "Unknown key")`,
  );
  expect(await check(forbidden.url)).toContain("Missing or invalid parameters. The project has no access)");
  expect(await check(gone.url)).toContain("fetch failed (ECONNREFUSED))");
  expect(await check(gone.url.replace("http:", "https:"))).toContain("fetch failed (ECONNREFUSED))");
  expect((await check(page.url)).length).toBeLessThan(400);
});
