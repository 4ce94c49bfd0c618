import { type Hex, toFunctionSelector } from "viem";
import { MULTICALL3_ADDRESS, multicall3Abi } from "../../abis/multicall3.ts";
import { type Failure, failure, type Postponed } from "../fetch/failure.ts";
import { isRevert } from "./revert.ts";
import { RpcFault, type Rpc, type RpcAnswer } from "./rpc.ts";
import { SLOW_BATCH_MS, type SlowContracts } from "./slow-contract.ts";
import { addressWord, word } from "./word.ts";

/** Reads in one aggregate3: 100 URIs of 100 kB, as art drawn on chain has, still fit one answer. */
const MULTICALL_SIZE = 100;
/** Reads in one JSON-RPC batch. Providers commonly refuse more than 100, and charge each. */
const BATCH_SIZE = 50;
/** Answers of one reading that are held in memory. What comes after is to be asked for again. */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
/** How long a chain without Multicall3 is taken to be still without. */
const RECHECK_MS = 600_000;

export type Call = { to: Hex; data: Hex };

/**
 * What a contract said. A call that reverted and one that returned nothing are both "none": an answer of the chain,
 * which only the chain can change. A "fault" is the node's, and worth another try; with `againSeconds` nothing was
 * asked, because there was no room or time for it, and it is to be by then.
 */
export type CallAnswer =
  | { kind: "data"; data: Buffer }
  | { kind: "none" }
  | { kind: "fault"; message: string; againSeconds?: number };

export type ReadCalls = (calls: Call[]) => Promise<CallAnswer[]>;

/**
 * Reads of contracts at the latest block, answered in the order of `calls`. Never throws for one bad call. With `slow`,
 * contracts that take long hold up no others.
 */
export function createCallReader(rpc: Rpc, { slow }: { slow?: SlowContracts } = {}): ReadCalls {
  let multicall = { isDeployed: false, checkedAt: -Infinity };

  async function isMulticallDeployed(): Promise<boolean> {
    if (multicall.isDeployed || performance.now() - multicall.checkedAt < RECHECK_MS) return multicall.isDeployed;
    const [answer] = await rpc.send([{ method: "eth_getCode", params: [MULTICALL3_ADDRESS, "latest"] }]);
    if (typeof answer?.result !== "string") return false;
    multicall = { isDeployed: answer.result.length > 2, checkedAt: performance.now() };
    return multicall.isDeployed;
  }

  return async function readCalls(calls) {
    const answers = Array.from<CallAnswer | undefined>({ length: calls.length });
    const usual = calls.flatMap(({ to }, i) => (slow?.isSuspect(to) ? [] : [i]));
    const isAggregated = usual.length > 1 && (await isMulticallDeployed().catch(() => false));
    if (isAggregated) {
      for (let start = 0; start < usual.length; start += MULTICALL_SIZE) {
        const part = usual.slice(start, start + MULTICALL_SIZE);
        const read = await aggregate(
          rpc,
          part.map((i) => calls[i]!),
        );
        part.forEach((i, at) => read[at] && read[at].length > 0 && (answers[i] = { kind: "data", data: read[at] }));
      }
    }
    // What failed inside an aggregate is asked alone: one call that burns its gas leaves too little for those after it.
    const rest = usual.filter((i) => !answers[i]);
    for (let start = 0; start < rest.length; start += BATCH_SIZE) {
      const part = rest.slice(start, start + BATCH_SIZE).filter((i) => !slow?.isSuspect(calls[i]!.to));
      if (sizeOf(answers) > MAX_TOTAL_BYTES) {
        for (const i of part) answers[i] = TOO_MUCH;
        continue;
      }
      const asked = part.map((i) => calls[i]!);
      const isSlow = slow && isSlowFrom(performance.now());
      const read = await readBatch(rpc, asked, { isSlow });
      if (isSlow?.()) slow?.suspect(asked.map(({ to }) => to));
      part.forEach((i, at) => (answers[i] = read?.[at]));
    }
    if (slow) await readSuspects(calls, { answers, slow });
    return answers.map((answer) => answer ?? { kind: "fault", message: "not read" });
  };

  /** What is left: those of fewer calls first, which are less likely to be slow. */
  async function readSuspects(
    calls: Call[],
    { answers, slow }: { answers: (CallAnswer | undefined)[]; slow: SlowContracts },
  ): Promise<void> {
    const size = sizeOf(answers);
    const left = calls.flatMap((call, i) => (answers[i] ? [] : [{ call, i }]));
    const byContract = [...Map.groupBy(left, ({ call }) => call.to)].toSorted(([, a], [, b]) => a.length - b.length);
    const tried: CallAnswer[] = [];
    for (const [contract, open] of byContract) {
      const read = await slow.askAlone(contract, open, async (part) => {
        if (size + sizeOf(tried) > MAX_TOTAL_BYTES) return part.map(() => TOO_MUCH);
        if (isDown(tried)) return part.map(() => tried[0]!);
        const isSlow = isSlowFrom(performance.now());
        const given = await readBatch(
          rpc,
          part.map(({ call }) => call),
          { isSlow },
        );
        tried.push(...(given ?? []));
        return given ?? part.map(() => LEFT_ALONE);
      });
      open.forEach(({ i }, at) => (answers[i] = read[at] ?? LEFT_ALONE));
    }
  }
}

/** What a fault is to whoever counts attempts: none, where nothing was asked. */
export function faultOf({ message, againSeconds }: Extract<CallAnswer, { kind: "fault" }>): Failure | Postponed {
  return againSeconds === undefined ? failure("rpc", message) : { kind: "postponed", seconds: againSeconds, host: "" };
}

const TOO_MUCH: CallAnswer = { kind: "fault", message: "Too much data at once.", againSeconds: 60 };
const LEFT_ALONE: CallAnswer = { kind: "fault", message: "Not asked: its contract takes long.", againSeconds: 600 };

/** The data of each call that succeeded; all undefined where the aggregate itself failed. */
async function aggregate(rpc: Rpc, calls: Call[]): Promise<(Buffer | undefined)[]> {
  const data = encodeAggregate(calls);
  const nothing = calls.map(() => undefined);
  try {
    const [answer] = await rpc.send([ethCall({ to: MULTICALL3_ADDRESS, data })]);
    if (typeof answer?.result !== "string") return nothing;
    return decodeAggregate(Buffer.from(answer.result.slice(2), "hex"), calls.length) ?? nothing;
  } catch {
    return nothing;
  }
}

const AGGREGATE3 = toFunctionSelector(multicall3Abi[0]);
/** allowFailure, and where the data begins in a call's tuple. */
const TUPLE_MIDDLE = word(1) + word(96);

/** By hand, because a general encoder takes a tenth of the time that a whole document takes. */
function encodeAggregate(calls: Call[]): Hex {
  const offsets: string[] = [];
  const tuples: string[] = [];
  let at = calls.length * 32;
  for (const { to, data } of calls) {
    const bytes = data.slice(2);
    const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, "0");
    // Target, allowFailure, where the data begins, its length, the data.
    const tuple = addressWord(to) + TUPLE_MIDDLE + word(bytes.length / 2) + padded;
    offsets.push(word(at));
    tuples.push(tuple);
    at += tuple.length / 2;
  }
  return `${AGGREGATE3}${word(32)}${word(calls.length)}${offsets.join("")}${tuples.join("")}`;
}

/** By hand, because a general decoder takes long for megabytes of art. Undefined where it isn't what Multicall3 writes. */
function decodeAggregate(data: Buffer, count: number): (Buffer | undefined)[] | undefined {
  try {
    const array = readOffset(data, 0);
    if (readOffset(data, array) !== count) return undefined;
    return Array.from({ length: count }, (_, i) => {
      const tuple = array + 32 + readOffset(data, array + 32 + i * 32);
      const bytes = tuple + readOffset(data, tuple + 32);
      const length = readOffset(data, bytes);
      if (bytes + 32 + length > data.length) throw new RangeError("past the end");
      return data[tuple + 31] === 1 ? data.subarray(bytes + 32, bytes + 32 + length) : undefined;
    });
  } catch {
    return undefined;
  }
}

/** A word as a number. @throws RangeError when it is outside the data or larger than any offset can be */
export function readOffset(data: Buffer, at: number): number {
  if (at + 32 > data.length || data.readUIntBE(at, 6) !== 0) throw new RangeError("not an offset");
  for (let i = at + 6; i < at + 26; i++) if (data[i] !== 0) throw new RangeError("not an offset");
  return data.readUIntBE(at + 26, 6);
}

/** Undefined where it was too slow to be answered. */
async function readBatch(
  rpc: Rpc,
  calls: Call[],
  { isSlow }: { isSlow?: (() => boolean) | undefined } = {},
): Promise<CallAnswer[] | undefined> {
  try {
    return (await rpc.send(calls.map(ethCall))).map(toCallAnswer);
  } catch (error) {
    if (!(error instanceof RpcFault)) throw error;
    if (isSlow?.()) return undefined;
    if (calls.length === 1) return [{ kind: "fault", message: error.message }];
    // The node takes no batches, or their answers are too large: one by one, and the first fault speaks for the rest.
    const answers: CallAnswer[] = [];
    for (const call of calls) {
      if (sizeOf(answers) > MAX_TOTAL_BYTES) answers.push(TOO_MUCH);
      else answers.push(isDown(answers) ? answers[0]! : (await readBatch(rpc, [call]))![0]!);
    }
    return answers;
  }
}

const isSlowFrom = (startedAt: number) => () => performance.now() - startedAt > SLOW_BATCH_MS;

/** Whether nothing but faults came so far. */
const isDown = (answers: CallAnswer[]) => answers.length >= 3 && answers.every(({ kind }) => kind === "fault");

function sizeOf(answers: (CallAnswer | undefined)[]): number {
  return answers.reduce((sum, answer) => sum + (answer?.kind === "data" ? answer.data.length : 0), 0);
}

const ethCall = ({ to, data }: Call) => ({ method: "eth_call", params: [{ to, data }, "latest"] });

/** What the answer to one eth_call says of the contract. */
function toCallAnswer(answer: RpcAnswer): CallAnswer {
  if (answer.error) {
    const { code, message } = answer.error;
    if (isRevert(answer.error)) return { kind: "none" };
    return { kind: "fault", message: `${code}: ${message}`.slice(0, 200) };
  }
  if (typeof answer.result !== "string" || !/^0x(?:[0-9a-f]{2})*$/i.test(answer.result))
    return { kind: "fault", message: "The node's answer is not hex." };
  return answer.result === "0x" ? { kind: "none" } : { kind: "data", data: Buffer.from(answer.result.slice(2), "hex") };
}
