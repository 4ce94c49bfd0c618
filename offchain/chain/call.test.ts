import { setTimeout as sleep } from "node:timers/promises";
import { type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { serveCalls, serveNode } from "../../test/node-server.ts";
import { type Call, type CallAnswer, createCallReader } from "./call.ts";
import { createRpc } from "./rpc.ts";
import { createSlowContracts } from "./slow-contract.ts";

type Request = { id: number; method: string; params: [{ to: Hex }] };

const SLOW: Hex = numberToHex(1, { size: 20 });
const contractOf = (n: number) => numberToHex(n, { size: 20 });

/** A node without Multicall3. It answers one call after the other, and takes long for those to one contract. */
async function startNode() {
  const asked: Hex[] = [];
  const state = { isStopped: false, mostAnswers: Infinity, slowAnswer: undefined as Hex | undefined };
  const node = await serveNode(async (body: Request | Request[], response) => {
    if (state.isStopped) return;
    const answers = [];
    for (const { id, method, params } of [body].flat()) {
      if (answers.length >= state.mostAnswers) {
        answers.push({ jsonrpc: "2.0", id, error: { code: -32_003, message: "response too large" } });
        continue;
      }
      if (method === "eth_call") asked.push(params[0].to);
      if (method === "eth_call" && params[0].to === SLOW) await sleep(600);
      const error = { code: -32_000, message: "out of gas" };
      const isSlow = method === "eth_call" && params[0].to === SLOW;
      const result = isSlow ? state.slowAnswer : method === "eth_call" ? "0x2a" : "0x";
      answers.push({
        jsonrpc: "2.0",
        id,
        ...(result === undefined ? { error } : { result }),
      });
    }
    response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
  });
  return { ...node, state, takeAsked: () => asked.splice(0) };
}

test("a contract whose calls take long is left alone, and the others are answered", async () => {
  await using node = await startNode();
  const rpc = createRpc({ urls: [node.url] });
  const readCalls = createCallReader(rpc, { slow: createSlowContracts() });
  const calls = Array.from({ length: 20 }, (_, n): Call => ({ to: n % 2 ? contractOf(n + 10) : SLOW, data: "0x" }));
  const read = async () => {
    const answers = await readCalls(calls);
    const isOfSlow = ({ to }: Call) => to === SLOW;
    const wordOf = (answer: CallAnswer) => (answer.kind === "fault" && answer.againSeconds ? "untried" : answer.kind);
    expect(answers.filter((_, i) => !isOfSlow(calls[i]!)).map(wordOf)).toEqual(Array(10).fill("data"));
    return {
      asked: node.takeAsked().filter((to) => to === SLOW).length,
      answers: answers.filter((_, i) => isOfSlow(calls[i]!)).map(wordOf),
    };
  };
  expect(await read()).toEqual({ asked: 10, answers: Array(10).fill("none") });
  const { asked, answers } = await read();
  expect(answers).toEqual([...Array<string>(asked).fill("none"), ...Array<string>(10 - asked).fill("untried")]);
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThan(5);
  expect(await read()).toEqual({ asked: 0, answers: Array(10).fill("untried") });
  await rpc.close();
});

test("a contract is not left alone for how long its large answers take to come", async () => {
  await using node = await startNode();
  node.state.slowAnswer = `0x${"2a".repeat(200_000)}`;
  const rpc = createRpc({ urls: [node.url] });
  const slow = createSlowContracts();
  slow.suspect([SLOW]);
  const readCalls = createCallReader(rpc, { slow });
  const calls = Array.from({ length: 7 }, (): Call => ({ to: SLOW, data: "0x" }));
  expect((await readCalls(calls)).map(({ kind }) => kind)).toEqual(calls.map(() => "data"));
  expect(slow.isSuspect(SLOW)).toBe(false);
  await rpc.close();
});

test("a batch that its node doesn't answer in time is asked for contract by contract", async () => {
  await using node = await startNode();
  const rpc = createRpc({ urls: [node.url], timeoutMs: 5000 });
  const readCalls = createCallReader(rpc, { slow: createSlowContracts() });
  const calls = Array.from({ length: 20 }, (_, n): Call => ({ to: n % 4 ? SLOW : contractOf(n + 10), data: "0x" }));
  const answers = await readCalls(calls);
  expect(answers.filter((_, n) => n % 4 === 0).map(({ kind }) => kind)).toEqual(Array(5).fill("data"));
  expect(answers.filter(({ kind }) => kind === "fault").every((answer) => "againSeconds" in answer)).toBe(true);
  expect(answers.filter(({ kind }) => kind === "fault").length).toBeGreaterThan(10);
  await rpc.close();
});

test("what a node leaves out of a batch, because the answer got too large, is asked again", async () => {
  await using node = await startNode();
  const rpc = createRpc({ urls: [node.url] });
  const readCalls = createCallReader(rpc, { slow: createSlowContracts() });
  const calls = Array.from({ length: 20 }, (_, n): Call => ({ to: contractOf(n + 10), data: "0x" }));
  node.state.mostAnswers = 8;
  expect((await readCalls(calls)).map(({ kind }) => kind)).toEqual(calls.map(() => "data"));
  expect(node.takeAsked()).toEqual(calls.map(({ to }) => to));
  // One that answers none of them isn't asked again.
  node.state.mostAnswers = 0;
  expect((await readCalls(calls)).map(({ kind }) => kind)).toEqual(calls.map(() => "fault"));
  await rpc.close();
});

test("no contract is left alone for a node that answered nothing for a while", async () => {
  await using node = await startNode();
  const rpc = createRpc({ urls: [node.url], timeoutMs: 4500 });
  const readCalls = createCallReader(rpc, { slow: createSlowContracts() });
  const calls = Array.from({ length: 4 }, (_, n): Call => ({ to: contractOf(n + 10), data: "0x" }));
  node.state.isStopped = true;
  const silent = { kind: "fault", message: "No node answers.", againSeconds: 60 };
  expect(await readCalls(calls)).toEqual(calls.map(() => silent));
  node.state.isStopped = false;
  expect((await readCalls(calls)).map(({ kind }) => kind)).toEqual(calls.map(() => "data"));
  await rpc.close();
});

test.each([
  [{ code: 3, message: "execution reverted" }, "reverts."],
  [{ code: 3, message: "execution reverted: ERC721: invalid token ID" }, "reverts: ERC721: invalid token ID"],
  [{ code: -32_015, message: "VM execution error." }, "reverts: VM execution error."],
  [{ code: -32_000, message: "out of gas" }, "reverts: out of gas"],
  [{ code: 3 }, "reverts."],
  [undefined, "returns nothing."],
])("of a call without an answer is told what it does: %j", async (error, message) => {
  const node = await serveCalls(({ id }: Request) => ({
    jsonrpc: "2.0",
    id,
    ...(error ? { error } : { result: "0x" }),
  }));
  const rpc = createRpc({ urls: [node.url] });
  const readCalls = createCallReader(rpc);
  expect(await readCalls([{ to: contractOf(1), data: "0x" }])).toEqual([{ kind: "none", message }]);
  await rpc.close();
  await node.close();
});
