import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeAbiParameters, type Hex, zeroAddress } from "viem";
import type { Chain } from "./chain.ts";
import { fulfilled } from "../test/order-fulfilled.ts";

/** topic0 of Seaport's OrderFulfilled. */
export const ORDER_FULFILLED = "0x9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31";

const TRANSFER_KIND = 0;
const ORDER_KIND = 3;
/** One log in so many is an exchange's. */
const SHARE = 10;
const FEE_RECIPIENT: Hex = "0x0000a26b00c1f0df003000390027140000faa719";

type Log = {
  address: Hex;
  topics: Hex[];
  data: Hex;
  blockNumber: Hex;
  transactionHash: Hex;
  transactionIndex: Hex;
  blockHash: Hex;
  logIndex: Hex;
  removed: boolean;
};

/** A chain in which one log in ten sells the token that the log before has moved. */
export type ExchangeChain = Chain & { sales: number };

/**
 * The same chain with an OrderFulfilled behind every so manieth transfer between accounts, written by `exchange`. Logs
 * move up in their blocks, so that the events that are expected are counted anew.
 */
export async function prepareExchangeChain(
  { directory: source }: Chain,
  { exchange }: { exchange: Hex },
): Promise<ExchangeChain> {
  const directory = `${source}-sold-by-${exchange.slice(-8)}`;
  if (!existsSync(directory)) {
    const fresh = `${directory}.new`;
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { recursive: true });
    await writeExchangeChain({ source, target: fresh, exchange });
    await rename(fresh, directory);
  }
  const meta = JSON.parse(readFileSync(join(directory, "meta.json"), "utf8")) as ExchangeChain["meta"] & {
    sales: number;
  };
  return { directory, meta, sales: meta.sales };
}

async function writeExchangeChain({
  source,
  target,
  exchange,
}: {
  source: string;
  target: string;
  exchange: Hex;
}): Promise<void> {
  const meta = JSON.parse(readFileSync(join(source, "meta.json"), "utf8")) as Chain["meta"] & { contracts: unknown[] };
  const numbers = (name: string) => {
    const bytes = readFileSync(join(source, name));
    return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  };
  const bytes = readFileSync(join(source, "logs.json"));
  const index = readFileSync(join(source, "logs.idx"));
  const offsets = new Float64Array(index.buffer.slice(index.byteOffset, index.byteOffset + index.length));
  const kinds = numbers("logs.kind");
  const logs = writer();
  const newKinds: number[] = [];
  /** Where each of the old logs is now. */
  const moved: number[] = [];
  const oracle = createOracle();
  let [sales, block, logIndex] = [0, "", 0];
  const add = (log: Log, kind: number) => {
    logs.add(`${JSON.stringify({ ...log, logIndex: toHex(logIndex) })},`);
    newKinds.push(kind);
    logIndex += 1;
  };
  for (let n = 0; n < meta.logs; n += 1) {
    const log = JSON.parse(bytes.toString("latin1", offsets[n], offsets[n + 1]! - 1)) as Log;
    if (log.blockNumber !== block) [block, logIndex] = [log.blockNumber, 0];
    moved.push(newKinds.length);
    for (const [place, columns] of transfersOf(log, kinds[n]! & 3).entries())
      oracle.add(Number(log.blockNumber), logIndex, place, log.address, ...columns);
    add(log, kinds[n]!);
    const isSold = newKinds.length >= (sales + 1) * SHARE && isMove(log, kinds[n]! & 3);
    if (!isSold) continue;
    sales += 1;
    add(saleOf(log, { exchange, sales }), (meta.contracts.length << 2) | ORDER_KIND);
  }
  moved.push(newKinds.length);

  for (const name of ["txs.json", "txs.idx", "receipts.json", "receipts.idx"])
    await cp(join(source, name), join(target, name));
  const blocks = numbers("blocks.idx").map((value, n) => (n % 3 === 1 ? moved[value]! : value));
  await Promise.all([
    writeFile(join(target, "logs.json"), logs.end()),
    writeFile(join(target, "logs.idx"), Buffer.from(Float64Array.from(logs.offsets()).buffer)),
    writeFile(join(target, "logs.kind"), Buffer.from(Uint32Array.from(newKinds).buffer)),
    writeFile(join(target, "blocks.idx"), Buffer.from(blocks.buffer)),
    writeFile(
      join(target, "txs.log"),
      Buffer.from(Uint32Array.from(numbers("txs.log"), (value) => moved[value]!).buffer),
    ),
  ]);
  const market = { address: exchange, std: "ERC721", name: "", symbol: "", transfers: 0 };
  const expected = { ...meta.expected, event: oracle.end() };
  const changed = { ...meta, logs: newKinds.length, sales, expected, contracts: [...meta.contracts, market] };
  await writeFile(join(target, "meta.json"), JSON.stringify(changed, null, 1));
}

/** Text in pieces: the whole of a million logs is longer than a string may be. */
function writer() {
  const pieces: Buffer[] = [];
  const starts: number[] = [];
  let size = 0;
  return {
    add: (text: string) => {
      starts.push(size);
      const piece = Buffer.from(text, "latin1");
      size += piece.length;
      pieces.push(piece);
    },
    offsets: () => [...starts, size],
    end: () => Buffer.concat(pieces, size),
  };
}

/** Source: the generator's README. */
function createOracle() {
  let [rows, sum] = [0, 0n];
  return {
    add: (...columns: (string | number | bigint)[]) => {
      rows += 1;
      sum += BigInt(createHash("md5").update(columns.join("|")).digest().readUInt32BE(0));
    },
    end: () => ({ rows, sum: String(sum) }),
  };
}

const addressOf = (topic: Hex | undefined): Hex => `0x${topic!.slice(26)}`;
const toHex = (value: number): Hex => `0x${value.toString(16)}`;

/** Token id, sender, receiver and units of each token that a log moves. */
function transfersOf({ topics, data }: Log, kind: number): [bigint, Hex, Hex, bigint][] {
  if (kind === TRANSFER_KIND) return [[BigInt(topics[3]!), addressOf(topics[1]), addressOf(topics[2]), 1n]];
  const words = data
    .slice(2)
    .match(/.{64}/g)!
    .map((word) => BigInt(`0x${word}`));
  const [from, to] = [addressOf(topics[2]), addressOf(topics[3])];
  if (kind === 1) return [[words[0]!, from, to, words[1]!]];
  const count = Number(words[2]);
  return words.slice(3, 3 + count).map((id, n) => [id, from, to, words[4 + count + n]!]);
}

/** From one account to another. */
function isMove({ topics }: Log, kind: number): boolean {
  const [from, to] = [addressOf(topics[1]), addressOf(topics[2])];
  return kind === TRANSFER_KIND && from !== to && from !== zeroAddress && to !== zeroAddress;
}

/** A listing that was bought for ether, with a fee. */
function saleOf(log: Log, { exchange, sales }: { exchange: Hex; sales: number }): Log {
  const [seller, buyer] = [addressOf(log.topics[1]), addressOf(log.topics[2])];
  const price = 10n ** 15n * BigInt(1 + (sales % 1000));
  const ether = { itemType: 0, token: zeroAddress, identifier: 0n };
  const data = encodeAbiParameters(fulfilled, [
    `0x${createHash("sha256").update(`order${sales}`).digest("hex")}`,
    buyer,
    [{ itemType: 2, token: log.address, identifier: BigInt(log.topics[3]!), amount: 1n }],
    [
      { ...ether, amount: (price * 39n) / 40n, recipient: seller },
      { ...ether, amount: price / 40n, recipient: FEE_RECIPIENT },
    ],
  ]);
  const zone: Hex = `0x${"0".repeat(64)}`;
  return { ...log, address: exchange, topics: [ORDER_FULFILLED, log.topics[1]!, zone], data };
}
