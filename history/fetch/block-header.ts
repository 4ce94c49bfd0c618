import type { Hex } from "viem";
import { fetchAll } from "./fetch-all.ts";
import {
  keysOf,
  peek,
  readHexStart,
  readQuantity,
  type Scan,
  scanObject,
  scanString,
  skipValue,
  unexpected,
} from "../json-scan.ts";
import { NodeError } from "../rpc/rpc-error.ts";
import type { AskOptions, RpcPool } from "../rpc/rpc-pool.ts";
import { quantityOf, type RpcCall } from "../rpc/rpc-post.ts";

/** The fields of a block that are read. */
export type BlockHeader = { number: number; hash: Hex; parentHash: Hex; timestamp: number; logsBloom: Hex };

const FIELDS = keysOf("number", "timestamp", "hash", "parentHash", "logsBloom");
const BLOOM_DIGITS = 512;

/** Used where a node leaves the bloom out or writes something else. Like an empty one, it says nothing. */
const NO_BLOOM: Hex = `0x${"0".repeat(BLOOM_DIGITS)}`;

/**
 * The headers of blocks, in order, fetched in batches. Where the chain has skipped a number, the header of the block
 * before it.
 *
 * `order` and `avoid` as in `RpcPool.ask`. Headers from another node than the one that sent the logs are a better
 * check.
 */
export async function fetchHeaders(pool: RpcPool, numbers: number[], options: AskOptions): Promise<BlockHeader[]> {
  const calls = numbers.map((number): RpcCall => ({
    method: "eth_getBlockByNumber",
    params: [quantityOf(number), false],
  }));
  const headers = await fetchAll<BlockHeader | null>(pool, calls, {
    ...options,
    readResult: readHeader,
    skipped: null,
    check: (header, call) => {
      const number = numbers[call]!;
      if (header !== null && header?.number !== number) throw new NodeError(`It doesn't have block ${number}.`);
    },
  });
  const skipped = numbers.filter((_, call) => headers[call] === null);
  if (skipped.length === 0) return headers as BlockHeader[];
  const before = await fetchHeaders(
    pool,
    skipped.map((number) => number - 1),
    options,
  );
  return headers.map((header) => header ?? before.shift()!);
}

function readHeader(scan: Scan): BlockHeader {
  const header: Partial<BlockHeader> = { logsBloom: NO_BLOOM };
  const { bytes } = scan;
  const hexAt = (digits: number): Hex => {
    const start = readHexStart(scan, digits);
    return `0x${Buffer.from(bytes.buffer, bytes.byteOffset + start, digits)
      .toString("latin1")
      .toLowerCase()}`;
  };
  const quantity = () => {
    scanString(scan);
    return readQuantity(scan);
  };
  scanObject(scan, FIELDS, (key) => {
    if (key === 0) header.number = quantity();
    else if (key === 1) header.timestamp = quantity();
    else if (key === 2) header.hash = hexAt(64);
    else if (key === 3) header.parentHash = hexAt(64);
    else if (isBloom(scan)) header.logsBloom = hexAt(BLOOM_DIGITS);
    else skipValue(scan);
  });
  if (Object.keys(header).length < FIELDS.length) throw unexpected(scan);
  return header as BlockHeader;
}

/** Whether the next value may be a bloom. The scan doesn't move past it. */
function isBloom(scan: Scan): boolean {
  const end = { ...scan };
  skipValue(end);
  peek(scan);
  return end.at - scan.at === BLOOM_DIGITS + '"0x"'.length;
}
