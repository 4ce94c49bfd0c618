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
