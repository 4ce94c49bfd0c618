/** The answer of a node that doesn't have a block is shorter than this. */
const NO_BLOCK_BYTES = 200;

/** A JSON-RPC call. */
type Call = { method: string; params: unknown[] };

/** What is read of an answer to a call for logs, or for the block that they are of. */
type Answer = { result?: { logIndex: string }[] | object | null };

/** The call in a request's body, the first of a batch: see `range-end.ts`. Undefined where that isn't JSON. */
export function readCall(body: Buffer): Call | undefined {
  try {
    const [first] = [JSON.parse(body.toString()) as Call | Call[]].flat();
    return first && { method: first.method, params: first.params ?? [] };
  } catch {
    return undefined;
  }
}

/** Which block a call asks for: its number, tag or hash. Undefined where it asks for something else. */
export function blockOf({ method, params }: Call): string | undefined {
  return method === "eth_getBlockByNumber" || method === "eth_getBlockByHash" ? (params[0] as string) : undefined;
}

/** Whether a call asks for all logs of one block. */
export function asksForBlockLogs({ method, params }: Call): boolean {
  return method === "eth_getLogs" && (params[0] as { blockHash?: string } | undefined)?.blockHash !== undefined;
}

/** The last block of the range whose logs a call asks for. Undefined where it asks for something else. */
export function rangeEndOf({ method, params }: Call): number | undefined {
  const { toBlock } = (params[0] ?? {}) as { toBlock?: string };
  const end = method === "eth_getLogs" && toBlock !== undefined ? Number(toBlock) : NaN;
  return Number.isNaN(end) ? undefined : end;
}

/** The number of the block in an answer, -1 where the node doesn't have it. Undefined where it is another answer. */
export function blockNumberOf(bytes: Buffer, wanted: string): number | undefined {
  // Other blocks are large, and only whether they are there matters: they aren't parsed.
  if (wanted !== "latest" && bytes.length > NO_BLOCK_BYTES) return undefined;
  try {
    const { result } = JSON.parse(bytes.toString()) as { result?: { number: string } | null };
    return result === null ? -1 : result && Number(result.number);
  } catch {
    return undefined;
  }
}

/**
 * The log indexes in an answer, in ascending order, with which the block may come, too. Undefined where it is another
 * answer, as of who doesn't know the block.
 */
export function logIndexesOf(bytes: Buffer): number[] | undefined {
  try {
    const results = [JSON.parse(bytes.toString()) as Answer | Answer[]].flat().map(({ result }) => result);
    const logs = results.find((result) => Array.isArray(result));
    return results.includes(null) ? undefined : logs?.map(({ logIndex }) => Number(logIndex)).toSorted((a, b) => a - b);
  } catch {
    return undefined;
  }
}
