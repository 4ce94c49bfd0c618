import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { checkRpc } from "./rpc.ts";
import { readConfig } from "../../config.ts";

/** A node that takes connections, and answers where it has an answer. */
async function startNode(answer?: (method: string) => unknown) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id: number; method: string };
      if (answer) response.end(JSON.stringify({ jsonrpc: "2.0", id, result: answer(method) }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host, url: `http://${host}`, [Symbol.dispose]: () => server.close().closeAllConnections() };
}

test("a silent node is waited for shortly where another one answers, and alone no longer than is told", async () => {
  using silent = await startNode();
  using other = await startNode((method) => (method === "eth_chainId" ? "0x7" : null));
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
