/** A node that doesn't have a block says so in fewer. */
const NO_BLOCK_BYTES = 200;

/** What a node is asked for. */
export type Call = { method: string; params: unknown[] };

/** Of a request's body. Undefined where it is no JSON. */
export function readCall(body: Buffer): Call | undefined {
  try {
    const { method, params = [] } = JSON.parse(body.toString()) as { method: string; params?: unknown[] };
    return { method, params };
  } catch {
    return undefined;
  }
}

/** The number, tag or hash of the block that is asked for, if one is. */
export function blockOf({ method, params }: Call): string | undefined {
  return method === "eth_getBlockByNumber" || method === "eth_getBlockByHash" ? (params[0] as string) : undefined;
}

/** Whether all logs of one block are asked for. */
export function isOfBlockLogs({ method, params }: Call): boolean {
  return method === "eth_getLogs" && (params[0] as { blockHash?: string } | undefined)?.blockHash !== undefined;
}

/** The last block of a range whose logs are asked for. */
export function rangeEndOf({ method, params }: Call): number | undefined {
  const { toBlock } = (params[0] ?? {}) as { toBlock?: string };
  const end = method === "eth_getLogs" && toBlock !== undefined ? Number(toBlock) : NaN;
  return Number.isNaN(end) ? undefined : end;
}

/** Of the block in an answer; -1: it has none. Undefined where it is something else. */
export function numberOf(bytes: Buffer, wanted: string): number | undefined {
  // Of the others only whether they are there matters, and they are large.
  if (wanted !== "latest" && bytes.length > NO_BLOCK_BYTES) return undefined;
  try {
    const { result } = JSON.parse(bytes.toString()) as { result?: { number: string } | null };
    return result === null ? -1 : result && Number(result.number);
  } catch {
    return undefined;
  }
}

/** Of the logs in an answer, in order. None where it is something else. */
export function logNumbersOf(bytes: Buffer): number[] {
  try {
    const { result } = JSON.parse(bytes.toString()) as { result: { logIndex: string }[] };
    return result.map(({ logIndex }) => Number(logIndex)).toSorted((a, b) => a - b);
  } catch {
    return [];
  }
}
