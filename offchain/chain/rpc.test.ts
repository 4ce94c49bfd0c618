import { text } from "node:stream/consumers";
import { afterEach, expect, test, vi } from "vitest";
import { type Origin, serveOrigin } from "../../test/origin.ts";
import { createRpc, RpcFault } from "./rpc.ts";

const nodes: Origin[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close();
});

type Reply = { status?: number; body: string };

async function serve(reply: (body: string, authorization: string | undefined) => Reply): Promise<string> {
  const node = await serveOrigin((request, response) => {
    void text(request).then((asked) => {
      const { status = 200, body } = reply(asked, request.headers.authorization);
      response.writeHead(status).end(body);
    });
  });
  nodes.push(node);
  return node.url;
}

const request = { method: "eth_chainId", params: [] };
const answer = (id: number, result: string) => ({ jsonrpc: "2.0", id, result });

test("answers come in the order of the requests, whatever order the node gives", async () => {
  const url = await serve(() => ({ body: JSON.stringify([answer(1, "b"), answer(0, "a")]) }));
  const rpc = createRpc({ urls: [url] });
  expect(await rpc.send([request, request])).toMatchObject([{ result: "a" }, { result: "b" }]);
  await rpc.close();
});

test("a revert with status 500 is an answer", async () => {
  const url = await serve(() => ({
    status: 500,
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, error: { code: 3, message: "execution reverted" } }),
  }));
  const rpc = createRpc({ urls: [url] });
  expect(await rpc.send([request])).toMatchObject([{ error: { code: 3 } }]);
  await rpc.close();
});

test("the next URL is asked when one fails, and the failed one last for a while", async () => {
  let asked = 0;
  const bad = await serve(() => {
    asked++;
    return { status: 503, body: "overloaded" };
  });
  const good = await serve(() => ({ body: JSON.stringify(answer(0, "0x1")) }));
  const rpc = createRpc({ urls: [bad, good] });
  for (let i = 0; i < 3; i++) expect(await rpc.send([request])).toMatchObject([{ result: "0x1" }]);
  expect(asked).toBe(1);
  await rpc.close();
});

test.each([
  ["no JSON", "<html>"],
  ["fewer answers than requests", "[]"],
  [
    "an error for the whole batch",
    JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_600, message: "no" } }),
  ],
])("%s is a fault", async (_, body) => {
  const rpc = createRpc({ urls: [await serve(() => ({ body }))] });
  await expect(rpc.send([request, request])).rejects.toThrow(RpcFault);
  await rpc.close();
});

test("secrets in a URL don't reach error messages", async () => {
  const url = new URL(await serve(() => ({ status: 401, body: "" })));
  const rpc = createRpc({ urls: [`http://user:secret@${url.host}/key-in-path`] });
  const error = await rpc.send([request]).catch((cause: unknown) => cause);
  expect(String(error)).toMatch(/answered 401/);
  expect(String(error)).not.toMatch(/secret|key-in-path/);
  await rpc.close();
});

test("user and password of a URL are sent as they are meant", async () => {
  const sent: (string | undefined)[] = [];
  const url = await serve((_, authorization) => {
    sent.push(authorization);
    return { body: JSON.stringify(answer(0, "0x1")) };
  });
  for (const user of ["me:p%40ss%2F@", ":token@", "me@", ""]) {
    const rpc = createRpc({ urls: [url.replace("//", `//${user}`)] });
    await rpc.send([request]);
    await rpc.close();
  }
  const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
  expect(sent).toEqual([basic("me:p@ss/"), basic(":token"), basic("me:"), undefined]);
});

test("a URL of another chain is asked for nothing, one that doesn't answer yet when it does", async () => {
  const asked: string[] = [];
  let chainId: string | undefined;
  const other = await serve((body) => {
    asked.push((JSON.parse(body) as { method: string }).method);
    return { body: JSON.stringify(answer(0, "0x5")) };
  });
  const late = await serve((body) => {
    if (chainId === undefined) return { status: 503, body: "starting" };
    return { body: JSON.stringify(answer(0, body.includes("eth_chainId") ? chainId : "0xabc")) };
  });
  const told: unknown[] = [];
  const onOther = (...of: unknown[]) => void told.push(of);
  const rpc = createRpc({ urls: [other, late], chain: { id: () => 1, onOther } });
  await rpc.checkChains();
  expect(told).toEqual([[new URL(other).host, 5]]);
  const code = { method: "eth_getCode", params: [] };
  await expect(rpc.send([code])).rejects.toThrow(/answers for chain 5\. Expected 1\..+503/);
  chainId = "0x1";
  expect(await rpc.send([code])).toEqual([{ jsonrpc: "2.0", id: 0, result: "0xabc" }]);
  expect(new Set(asked)).toEqual(new Set(["eth_chainId"]));
  await rpc.close();
});

test("a URL that comes to lead to another chain is asked for nothing more: at once after a failure, else within seconds", async () => {
  let state: "ours" | "failing" | "other" = "ours";
  const url = await serve((body) => {
    if (state === "failing") return { status: 502, body: "<html>" };
    return {
      body: JSON.stringify(answer(0, !body.includes("eth_chainId") ? state : state === "ours" ? "0x1" : "0x5")),
    };
  });
  const told: number[] = [];
  const rpc = createRpc({ urls: [url], chain: { id: () => 1, onOther: (_, chainId) => told.push(chainId) } });
  const code = { method: "eth_getCode", params: [] };
  expect(await rpc.send([code])).toMatchObject([{ result: "ours" }]);
  state = "failing";
  await expect(rpc.send([code])).rejects.toThrow("502");
  state = "other";
  await expect(rpc.send([code])).rejects.toThrow("answers for chain 5. Expected 1.");
  state = "ours";
  expect(await rpc.send([code])).toMatchObject([{ result: "ours" }]);

  state = "other";
  const now = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => now + 10_000);
  await expect(rpc.send([code])).rejects.toThrow("answers for chain 5. Expected 1.");
  vi.restoreAllMocks();
  expect(told).toEqual([5, 5]);
  await rpc.close();
});

const limited = { error: { code: -32_005, message: "limit exceeded" } };

test("what a node has no answer to is asked of the next one, and what a contract reverts is an answer", async () => {
  const asked: number[] = [];
  const first = await serve((body) => {
    const requests = JSON.parse(body) as unknown[];
    asked.push(requests.length);
    return {
      body: JSON.stringify([
        { jsonrpc: "2.0", id: 0, ...limited },
        answer(1, "first"),
        { jsonrpc: "2.0", id: 2, error: { code: 3, message: "execution reverted" } },
      ]),
    };
  });
  const second = await serve((body) => {
    expect(JSON.parse(body)).toMatchObject({ id: 0 });
    return { body: JSON.stringify({ ...answer(0, "second"), error: null }) };
  });
  const rpc = createRpc({ urls: [first, second] });
  const expected = [{ result: "second" }, { result: "first" }, { error: { code: 3 } }];
  for (let i = 0; i < 2; i++) expect(await rpc.send([request, request, request])).toMatchObject(expected);
  expect(asked).toEqual([3, 3]);
  await rpc.close();
});

test("a node that answers nothing but errors of its own is asked last for a while", async () => {
  let asked = 0;
  const bad = await serve(() => {
    asked++;
    return { body: JSON.stringify({ jsonrpc: "2.0", id: 0, ...limited }) };
  });
  const good = await serve(() => ({ body: JSON.stringify(answer(0, "0x1")) }));
  const rpc = createRpc({ urls: [bad, good] });
  for (let i = 0; i < 3; i++) expect(await rpc.send([request])).toMatchObject([{ result: "0x1" }]);
  expect(asked).toBe(1);
  await rpc.close();
});

test("where every node has an error, or can't be reached, the error is told", async () => {
  const bad = await serve(() => ({ body: JSON.stringify({ jsonrpc: "2.0", id: 0, ...limited }) }));
  const broken = await serve(() => ({ status: 503, body: "overloaded" }));
  const rpc = createRpc({ urls: [bad, broken] });
  for (let i = 0; i < 2; i++) expect(await rpc.send([request])).toMatchObject([limited]);
  await rpc.close();
});
