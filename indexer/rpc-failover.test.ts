import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startRpcFailover } from "./rpc-failover.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A node that answers everything so; undefined: not at all. */
async function startNode(status: number | undefined): Promise<string> {
  const server = createServer((request, response) => {
    if (status === undefined) return void request.socket.destroy();
    response.writeHead(status).end(`node ${status}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  return `http://:secret@127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function ask(...statuses: (number | undefined)[]): Promise<[number, string]> {
  const failover = await startRpcFailover(await Promise.all(statuses.map(startNode)), { chainId: 1 });
  closing.push(failover.close);
  const response = await fetch(failover.url, { method: "POST", body: "{}" });
  return [response.status, await response.text()];
}

test("what an only node answers is passed on as it is", async () => {
  for (const status of [200, 401, 429, 500, 503]) expect(await ask(status)).toEqual([status, `node ${status}`]);
  expect(await ask(undefined)).toEqual([503, "No node answers."]);
});

test("of several nodes one that answers is heard, and a limit where none does", async () => {
  for (const status of [401, 402, 429, 500, undefined])
    expect(await ask(status, 200, status)).toEqual([200, "node 200"]);
  expect((await ask(429, 429))[0]).toBe(429);
  expect((await ask(429, undefined))[0]).toBe(429);
  expect((await ask(500, 401))[0]).toBe(503);
});

test("logs of a block that one of two nodes leaves out are the other one's, and gaps of the chain are believed", async () => {
  let asked = 0;
  const nodes = [
    [0, 1, 3],
    [0, 1, 2, 3],
  ] as number[][];
  const urls = await Promise.all(
    nodes.map(async (_, place) => {
      const server = createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          const { method } = JSON.parse(Buffer.concat(chunks).toString()) as { method: string };
          if (method === "eth_getLogs") asked++;
          const logs = nodes[place]!.map((number) => ({ logIndex: `0x${number.toString(16)}` }));
          response.end(JSON.stringify({ result: method === "eth_getLogs" ? logs : "0x1" }));
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      closing.push(() => server.close().closeAllConnections());
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }),
  );
  const failover = await startRpcFailover(urls, { chainId: 1 });
  closing.push(failover.close);
  const askForLogs = async () => {
    const body = JSON.stringify({ method: "eth_getLogs", params: [{ blockHash: "0x01" }] });
    const response = await fetch(failover.url, { method: "POST", body });
    return ((await response.json()) as { result: unknown[] }).result.length;
  };
  // Whoever is asked first.
  for (let time = 0; time < 4; time++) expect(await askForLogs()).toBe(4);

  nodes.splice(0, 2, [0, 2, 4], [0, 2, 4]);
  for (let time = 0; time < 10; time++) expect(await askForLogs()).toBe(3);
  asked = 0;
  for (let time = 0; time < 10; time++) expect(await askForLogs()).toBe(3);
  expect(asked).toBe(10);
});
