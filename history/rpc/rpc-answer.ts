import {
  JsonError,
  keysOf,
  OPEN_LIST,
  peek,
  type Scan,
  scanList,
  scanObject,
  skipValue,
  takeNull,
} from "../json-scan.ts";
import { NodeError, type RpcError, throwIfError } from "./rpc-error.ts";
import { SKIPPED_BLOCK } from "../../net/skipped-block.ts";

/** A node's answer to one call. A result of null has neither value nor error. */
export type Answer<T> = { id: number; value?: T; error?: RpcError };

const ENVELOPE = keysOf("id", "result", "error");

/**
 * Reads a JSON-RPC answer or a batch of them. `readResult` must move the scan past a result. `skipped`: the value for a
 * block that the chain has skipped, which is an error without it.
 *
 * @throws JsonError where the answer is cut off
 */
export function readAnswers<T>(
  bytes: Uint8Array,
  readResult: (scan: Scan) => T,
  { skipped }: { skipped?: T } = {},
): Answer<T>[] {
  const scan: Scan = { bytes, at: 0, start: 0, end: 0 };
  const answers: Answer<T>[] = [];
  const readOne = () => {
    const answer: Answer<T> = { id: -1 };
    scanObject(scan, ENVELOPE, (key) => {
      if (key === 0) answer.id = Number(readPlain(scan) ?? -1);
      else if (takeNull(scan)) return;
      else if (key === 1) answer.value = readResult(scan);
      else answer.error = readError(scan);
    });
    if (skipped !== undefined && answer.error && SKIPPED_BLOCK.test(answer.error.message))
      Object.assign(answer, { value: skipped, error: undefined });
    answers.push(answer);
  };
  if (peek(scan) === OPEN_LIST) scanList(scan, readOne);
  else readOne();
  return answers;
}

/**
 * The answers' values in the order of the calls. @throws NodeError, TooLargeError, BatchError where one is missing or
 * an error
 */
export function sortAnswers<T>(answers: Answer<T>[], count: number): (T | undefined)[] {
  const [first] = answers;
  if (first && answers.length === 1) {
    // An error of the whole batch may come as a single answer, without an id.
    throwIfError(first.error);
    if (count === 1) return [first.value];
  }
  const byId = new Map(answers.map((answer) => [answer.id, answer]));
  return Array.from({ length: count }, (_, id) => {
    const answer = byId.get(id);
    if (!answer) throw new NodeError(`It answered ${answers.length} of ${count} calls.`);
    throwIfError(answer.error);
    return answer.value;
  });
}

function readError(scan: Scan): RpcError {
  const error = readPlain(scan);
  // Proxies before a node may write errors in their own way.
  const { code, message, data } = (typeof error === "string" ? { message: error } : error) as Record<string, unknown>;
  return {
    code: Number(code ?? 0),
    message: [message, data]
      .filter((part) => part)
      .map(textOf)
      .join(" "),
  };
}

function textOf(part: unknown): string {
  return typeof part === "string" ? part : JSON.stringify(part);
}

/** Reads the next value, of any kind. */
export function readPlain(scan: Scan): unknown {
  const { at } = scan;
  skipValue(scan);
  try {
    return JSON.parse(Buffer.from(scan.bytes.subarray(at, scan.at)).toString()) as unknown;
  } catch (error) {
    throw new JsonError("The answer is not JSON.", { cause: error });
  }
}
