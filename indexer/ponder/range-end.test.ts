import { expect, test } from "vitest";
import { withRangeEnd } from "./range-end.ts";

type Call = { method: string; params: unknown[] };

const query = { method: "eth_getLogs", params: [{ fromBlock: "0x1", toBlock: "0x10" }] };
const logs = [{ logIndex: "0x0" }];

/** What of the calls of each request reaches the node, which answers so. */
function ask(answer: (body: Call | Call[]) => unknown, body = query) {
  const asked: string[] = [];
  const client = {
    request: async (options: { body: Call | Call[] }) => {
      asked.push(
        [options.body]
          .flat()
          .map(({ method }) => method)
          .join(),
      );
      return answer(options.body);
    },
  };
  return { asked, answer: withRangeEnd(client).request({ body }) };
}

const single = (block: unknown) => (body: Call | Call[]) => {
  if (Array.isArray(body)) throw new Error("No batches.");
  return body.method === "eth_getLogs" ? logs : block;
};

test("logs of a range are asked for together with its last block, in whatever order they are answered", async () => {
  const { asked, answer } = ask(() => [
    { id: 8, result: { number: "0x10" } },
    { id: 7, result: logs },
  ]);
  expect(await answer).toBe(logs);
  expect(asked).toEqual(["eth_getLogs,eth_getBlockByNumber"]);
});

test("a node that doesn't have that block isn't believed", async () => {
  const problem = "Block 16, up to which logs are wanted, isn't there yet";
  const batched = ask(() => [
    { id: 1, result: [] },
    { id: 2, result: null },
  ]);
  await expect(batched.answer).rejects.toThrow(problem);
  await expect(ask(single(null)).answer).rejects.toThrow(problem);
});

test("where a batch isn't answered well the block is asked for first, and the query alone tells its error", async () => {
  for (const answer of [single({}), (body: Call | Call[]) => (Array.isArray(body) ? undefined : single({})(body))]) {
    const one = ask(answer);
    expect(await one.answer).toBe(logs);
    expect(one.asked).toEqual(["eth_getLogs,eth_getBlockByNumber", "eth_getBlockByNumber", "eth_getLogs"]);
  }
  const refused = ask((body) => {
    if (Array.isArray(body))
      return [
        { id: 1, error: {} },
        { id: 2, result: {} },
      ];
    if (body.method === "eth_getLogs") throw new Error("block range is too wide");
    return {};
  });
  await expect(refused.answer).rejects.toThrow("block range is too wide");
});

test("what ran out of time isn't asked for at once again", async () => {
  const timeout = Object.assign(new Error("Slow."), { name: "TimeoutError" });
  const { asked, answer } = ask(() => {
    throw timeout;
  });
  await expect(answer).rejects.toBe(timeout);
  expect(asked).toHaveLength(1);
});

test("what may be cut short is asked for in parts, down to a block", async () => {
  const rangeOf = (fromBlock: number, toBlock: number) => ({
    method: "eth_getLogs",
    params: [{ fromBlock: `0x${fromBlock.toString(16)}`, toBlock: `0x${toBlock.toString(16)}` }],
  });
  /** Two logs a block, of which there are 500 at most in an answer. */
  const cut = (body: Call | Call[]) => {
    const [first, last] = Object.values([body].flat()[0]!.params[0] as object).map(Number) as [number, number];
    const found = Array.from({ length: (last - first + 1) * 2 }, (_, at) => first + Math.floor(at / 2));
    return [
      { id: 1, result: found.slice(0, 500) },
      { id: 2, result: {} },
    ];
  };
  const { asked, answer } = ask(cut, rangeOf(1, 700));
  expect(await answer).toEqual(Array.from({ length: 1400 }, (_, at) => 1 + Math.floor(at / 2)));
  expect(asked).toHaveLength(7);

  const full = Array.from({ length: 500 }, () => logs[0]);
  const alone = ask(
    () => [
      { id: 1, result: full },
      { id: 2, result: {} },
    ],
    rangeOf(16, 16),
  );
  expect(await alone.answer).toEqual(full);
  expect(alone.asked).toHaveLength(1);
});

test("logs of one block are asked for together with it", async () => {
  const body = { method: "eth_getLogs", params: [{ blockHash: "0x01" }] } as unknown as typeof query;
  const found = (block: unknown) => () => [
    { id: 1, result: [] },
    { id: 2, result: block },
  ];
  const { asked, answer } = ask(found({}), body);
  expect(await answer).toEqual([]);
  expect(asked).toEqual(["eth_getLogs,eth_getBlockByHash"]);
  await expect(ask(found(null), body).answer).rejects.toThrow(
    "Block 0x01, up to which logs are wanted, isn't there yet",
  );
});

test("all else is asked for as it is", async () => {
  const body = { method: "eth_getBlockByHash", params: ["0x01"] } as unknown as typeof query;
  const { asked, answer } = ask(() => logs, body);
  expect(await answer).toBe(logs);
  expect(asked).toEqual(["eth_getBlockByHash"]);
});

test("its text works by itself, as Ponder loads it", async () => {
  // oxlint-disable-next-line typescript/no-implied-eval -- It is ours.
  const loaded = new Function(`return ${withRangeEnd.toString()}`)() as typeof withRangeEnd;
  const client = {
    request: async () => [
      { id: 1, result: logs },
      { id: 2, result: {} },
    ],
  };
  expect(await loaded(client).request({ body: query })).toBe(logs);
});

test("of a block with more logs than a node gives at once they are read from the receipts", async () => {
  const body = { method: "eth_getLogs", params: [{ blockHash: "0x01" }] } as unknown as typeof query;
  const all = Array.from({ length: 1001 }, (_, at) => at);
  const receipts = [{ logs: all.slice(0, 1) }, { logs: [] }, { logs: all.slice(1) }];
  /** A node that has so many logs of the block, or an error instead, and these receipts. */
  const node = (own: unknown[] | Error, whole: unknown) => (calls: Call | Call[]) => {
    const answer = ({ method }: Call) => {
      if (method === "eth_getBlockReceipts" && whole instanceof Error) throw whole;
      if (method === "eth_getLogs" && own instanceof Error) throw own;
      const answers: Record<string, unknown> = { eth_getLogs: own, eth_getBlockReceipts: whole };
      return method in answers ? answers[method] : {};
    };
    if (!Array.isArray(calls)) return answer(calls);
    return own instanceof Error ? undefined : calls.map((call, id) => ({ id, result: answer(call) }));
  };
  for (const words of [
    "query returns too many logs, narrow your filter: 20000",
    "query returned more than 10000 results",
    "Too many logs requested. Max logs per response is 20000.",
    "Log response size exceeded.",
    "backend response too large",
  ]) {
    // viem's message has the request in it.
    const refusal = Object.assign(new Error("eth_getLogs failed"), { details: words });
    expect(await ask(node(refusal, receipts), body).answer).toEqual(all);
    for (const none of [null, new Error("no such method")])
      await expect(ask(node(refusal, none), body).answer).rejects.toBe(refusal);
  }
  const unknown = Object.assign(new Error("eth_getLogs failed"), { details: "unknown block" });
  await expect(ask(node(unknown, receipts), body).answer).rejects.toBe(unknown);

  const cut = all.slice(0, 1000);
  expect(await ask(node(cut, receipts), body).answer).toEqual(all);
  for (const none of [null, new Error("no such method"), [{ logs: [] }]])
    expect(await ask(node(cut, none), body).answer).toEqual(cut);
  expect(await ask(node(all.slice(0, 999), receipts), body).answer).toHaveLength(999);
});
