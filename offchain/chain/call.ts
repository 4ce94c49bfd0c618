import { type Hex, toFunctionSelector } from "viem";
import { toBytes } from "../bytea.ts";
import { MULTICALL3_ADDRESS, multicall3Abi } from "../../abis/multicall3.ts";
import { type Failure, failure, type Postponed } from "../fetch/failure.ts";
import { isRevert, tellRevert } from "./revert.ts";
import { RpcFault, type Rpc, type RpcAnswer } from "./rpc.ts";
import { SLOW_BATCH_MS, type SlowContracts } from "./slow-contract.ts";
import { addressWord, word } from "./word.ts";

/** How many calls go into one aggregate3. 100 URIs of 100 kB, as for art on chain, still fit one answer. */
const MULTICALL_SIZE = 100;
/** How many calls go into one JSON-RPC batch. Providers commonly refuse more than 100, and charge for each. */
const BATCH_SIZE = 50;
/** How many bytes of answers are held in memory for one reading. The remaining calls must be asked again later. */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
/** A chain without Multicall3 is checked for it again after this time. */
const RECHECK_MS = 600_000;

/** `from`: who asks, where a contract may answer others otherwise. Such a call is never part of an aggregate. */
export type Call = { to: Hex; data: Hex; from?: Hex };

/**
 * A contract's answer to a call. "none": the call reverted or returned nothing, which only the chain can change.
 * "fault": the node failed, so another try is worth it. A fault with `againSeconds` wasn't asked at all for lack of
 * room or time, and is to be asked again by then.
 */
export type CallAnswer =
  | { kind: "data"; data: Buffer }
  /** `message`: what the call does, as "reverts: out of gas". */
  | { kind: "none"; message?: string }
  | { kind: "fault"; message: string; againSeconds?: number };

/** Reads contracts: an answer for each call, in their order. */
export type ReadCalls = (calls: Call[]) => Promise<CallAnswer[]>;

/**
 * Reads contracts at the latest block. Answers come in the order of `calls`. A bad call never throws. With `slow`, slow
 * contracts don't hold up the others.
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
    const together = usual.filter((i) => calls[i]!.from === undefined);
    const isAggregated = together.length > 1 && (await isMulticallDeployed().catch(() => false));
    if (isAggregated) {
      for (let start = 0; start < together.length; start += MULTICALL_SIZE) {
        const part = together.slice(start, start + MULTICALL_SIZE);
        const read = await aggregate(
          rpc,
          part.map((i) => calls[i]!),
        );
        part.forEach((i, at) => read[at] && read[at].length > 0 && (answers[i] = { kind: "data", data: read[at] }));
      }
    }
    // Calls that failed inside an aggregate are repeated alone: one that burns its gas leaves too little for those
    // after it.
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

  /** Reads suspect contracts one by one, those with fewer calls first, because they are less likely to be slow. */
  async function readSuspects(
    calls: Call[],
    { answers, slow }: { answers: (CallAnswer | undefined)[]; slow: SlowContracts },
  ): Promise<void> {
    const size = sizeOf(answers);
    const left = calls.flatMap((call, i) => (answers[i] ? [] : [{ call, i }]));
    const byContract = [...Map.groupBy(left, ({ call }) => call.to)].toSorted(([, a], [, b]) => a.length - b.length);
    const tried: CallAnswer[] = [];
    let isSilent = false;
    for (const [contract, open] of byContract) {
      const ask = async (part: readonly { call: Call }[]) => {
        if (size + sizeOf(tried) > MAX_TOTAL_BYTES) return part.map(() => TOO_MUCH);
        if (isDown(tried)) return part.map(() => tried[0]!);
        if (isSilent) return undefined;
        const isSlow = isSlowFrom(performance.now());
        const given = await readBatch(
          rpc,
          part.map(({ call }) => call),
          { isSlow },
        );
        tried.push(...(given ?? []));
        if (!given) isSilent = !(await answersAtAll(rpc));
        return given ?? (isSilent ? undefined : part.map(() => LEFT_ALONE));
      };
      const read = await slow.askAlone(contract, open, { ask, bytesOf: sizeOf });
      open.forEach(({ i }, at) => (answers[i] = read[at] ?? (isSilent ? SILENT : LEFT_ALONE)));
    }
  }
}

/** A fault as the outcome of an attempt. Where nothing was asked it was no attempt: it is only postponed. */
export function faultOf({ message, againSeconds }: Extract<CallAnswer, { kind: "fault" }>): Failure | Postponed {
  return againSeconds === undefined ? failure("rpc", message) : { kind: "postponed", seconds: againSeconds, host: "" };
}

const TOO_MUCH: CallAnswer = { kind: "fault", message: "Too much data at once.", againSeconds: 60 };
const SILENT: CallAnswer = { kind: "fault", message: "No node answers.", againSeconds: 60 };
const LEFT_ALONE: CallAnswer = { kind: "fault", message: "Not asked: its contract takes long.", againSeconds: 600 };

/** The data of each call that succeeded. All are undefined where the aggregate itself failed. */
async function aggregate(rpc: Rpc, calls: Call[]): Promise<(Buffer | undefined)[]> {
  const data = encodeAggregate(calls);
  const nothing = calls.map(() => undefined);
  try {
    const [answer] = await rpc.send([ethCall({ to: MULTICALL3_ADDRESS, data })]);
    if (typeof answer?.result !== "string") return nothing;
    return decodeAggregate(toBytes(answer.result), calls.length) ?? nothing;
  } catch {
    return nothing;
  }
}

const AGGREGATE3 = toFunctionSelector(multicall3Abi[0]);
/** The middle of each call's tuple: allowFailure, and the offset of its data. */
const TUPLE_MIDDLE = word(1) + word(96);

/** Encodes aggregate3 by hand, because a general encoder takes a tenth of the time that a whole document takes. */
function encodeAggregate(calls: Call[]): Hex {
  const offsets: string[] = [];
  const tuples: string[] = [];
  let at = calls.length * 32;
  for (const { to, data } of calls) {
    const bytes = data.slice(2);
    const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, "0");
    // The tuple: target, allowFailure, offset of the data, length of the data, data.
    const tuple = addressWord(to) + TUPLE_MIDDLE + word(bytes.length / 2) + padded;
    offsets.push(word(at));
    tuples.push(tuple);
    at += tuple.length / 2;
  }
  return `${AGGREGATE3}${word(32)}${word(calls.length)}${offsets.join("")}${tuples.join("")}`;
}

/**
 * Decodes aggregate3's result by hand, because a general decoder is slow for megabytes of art. Undefined where it isn't
 * what Multicall3 returns.
 */
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

/** A word as an offset. @throws RangeError where it is outside the data, or larger than any offset can be */
export function readOffset(data: Buffer, at: number): number {
  if (at + 32 > data.length || data.readUIntBE(at, 6) !== 0) throw new RangeError("not an offset");
  for (let i = at + 6; i < at + 26; i++) if (data[i] !== 0) throw new RangeError("not an offset");
  return data.readUIntBE(at + 26, 6);
}

/** The answers to a batch, undefined where the node took too long. */
async function readBatch(
  rpc: Rpc,
  calls: Call[],
  { isSlow }: { isSlow?: (() => boolean) | undefined } = {},
): Promise<CallAnswer[] | undefined> {
  try {
    const answers = (await rpc.send(calls.map(ethCall))).map(toCallAnswer);
    return isSlow?.() ? answers : await readRest(rpc, calls, { answers, isSlow });
  } catch (error) {
    if (!(error instanceof RpcFault)) throw error;
    if (isSlow?.()) return undefined;
    if (calls.length === 1) return [{ kind: "fault", message: error.message }];
    // The node refuses batches, or their answers are too large: asks one by one. If the first ones fail, so do all.
    const answers: CallAnswer[] = [];
    for (const call of calls) {
      if (sizeOf(answers) > MAX_TOTAL_BYTES) answers.push(TOO_MUCH);
      else answers.push(isDown(answers) ? answers[0]! : (await readBatch(rpc, [call]))![0]!);
    }
    return answers;
  }
}

/**
 * Asks again what a node had only errors of its own for, as long as it answers some: Geth breaks off a batch whose
 * answers come to 25 MB.
 */
async function readRest(
  rpc: Rpc,
  calls: Call[],
  { answers, isSlow }: { answers: CallAnswer[]; isSlow: (() => boolean) | undefined },
): Promise<CallAnswer[]> {
  const rest = answers.flatMap(({ kind }, i) => (kind === "fault" ? [i] : []));
  if (rest.length === 0 || rest.length === calls.length) return answers;
  const isTooMuch = sizeOf(answers) > MAX_TOTAL_BYTES;
  const asked = rest.map((i) => calls[i]!);
  const read = isTooMuch ? asked.map(() => TOO_MUCH) : await readBatch(rpc, asked, { isSlow });
  rest.forEach((i, at) => (answers[i] = read?.[at] ?? answers[i]!));
  return answers;
}

/** Whether the nodes answer what costs them nothing. Else no contract is to blame for a call without an answer. */
async function answersAtAll(rpc: Rpc): Promise<boolean> {
  return rpc.send([{ method: "eth_chainId", params: [] }]).then(
    () => true,
    (error: unknown) => {
      if (error instanceof RpcFault) return false;
      throw error;
    },
  );
}

const isSlowFrom = (startedAt: number) => () => performance.now() - startedAt > SLOW_BATCH_MS;

/** Whether there were only faults so far. */
const isDown = (answers: CallAnswer[]) => answers.length >= 3 && answers.every(({ kind }) => kind === "fault");

function sizeOf(answers: (CallAnswer | undefined)[]): number {
  return answers.reduce((sum, answer) => sum + (answer?.kind === "data" ? answer.data.length : 0), 0);
}

const ethCall = ({ from, to, data }: Call) => ({ method: "eth_call", params: [{ from, to, data }, "latest"] });

/** The answer of a contract in the node's answer to one eth_call. */
function toCallAnswer(answer: RpcAnswer): CallAnswer {
  if (answer.error) {
    const { code, message } = answer.error;
    if (isRevert(answer.error)) return { kind: "none", message: tellRevert(message) };
    return { kind: "fault", message: `${code}: ${message}`.slice(0, 200) };
  }
  if (typeof answer.result !== "string" || !/^0x(?:[0-9a-f]{2})*$/i.test(answer.result))
    return { kind: "fault", message: "The node's answer is not hex." };
  if (answer.result === "0x") return { kind: "none", message: "returns nothing." };
  return { kind: "data", data: toBytes(answer.result) };
}
