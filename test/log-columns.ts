import type { Hex } from "viem";
import type { ChainLog, Chunk } from "../history/chain-log.ts";

/** Logs as the chunk that has them and no others. */
export function chunkOf(
  logs: readonly ChainLog[],
  { fromBlock, toBlock }: { fromBlock: number; toBlock: number },
): Chunk {
  const blocks = new Interned<number>();
  const transactions = new Interned<Hex>();
  const addresses = new Interned<Hex>();
  const words = new Interned<string>();
  const [blockOf, transactionOf, addressOf, wordOf, wordStartOf]: number[][] = [[], [], [], [], [0]];
  const tails = new Map<number, string>();
  const notes = new Map<number, Hex>();
  for (const [index, log] of logs.entries()) {
    blockOf!.push(blocks.placeOf(log.blockNumber));
    transactionOf!.push(transactions.placeOf(log.transactionHash));
    addressOf!.push(addresses.placeOf(log.address));
    const data = log.data.slice(2);
    const whole = data.length - (data.length % 64);
    const texts = [...log.topics.map((topic) => topic.slice(2)), ...(data.slice(0, whole).match(/.{64}/g) ?? [])];
    wordOf!.push(...texts.map((text) => words.placeOf(text)));
    wordStartOf!.push(wordOf!.length);
    if (whole < data.length) tails.set(index, data.slice(whole));
    if (log.note) notes.set(index, log.note);
  }
  const blockLogs = blocks.values.map((number) => logs.find(({ blockNumber }) => blockNumber === number)!);
  const senders = transactions.values.map((hash) => logs.find((log) => log.transactionHash === hash)!.sender);
  return {
    fromBlock,
    toBlock,
    logs: {
      count: logs.length,
      blockOf: Uint32Array.from(blockOf!),
      transactionOf: Uint32Array.from(transactionOf!),
      logIndexOf: Uint32Array.from(logs, ({ logIndex }) => logIndex),
      addressOf: Uint32Array.from(addressOf!),
      topicCountOf: Uint8Array.from(logs, ({ topics }) => topics.length),
      wordStartOf: Uint32Array.from(wordStartOf!),
      wordOf: Uint32Array.from(wordOf!),
      tails,
      notes,
      blocks: {
        count: blocks.values.length,
        numbers: Float64Array.from(blocks.values),
        timestamps: Float64Array.from(blockLogs, ({ timestamp }) => timestamp),
        hashes: bytesOf(blockLogs.map(({ blockHash }) => blockHash)),
      },
      transactions: {
        count: transactions.values.length,
        hashes: bytesOf(transactions.values),
        senders: bytesOf(senders.map((sender): Hex => sender ?? `0x${"00".repeat(20)}`)),
        hasSender: Uint8Array.from(senders, (sender) => (sender ? 1 : 0)),
      },
      addresses: addresses.values,
      words: Buffer.from(words.values.join(""), "hex"),
    },
  };
}

/** Splits logs into chunks at random blocks, empty ones among them. */
export function chunksOf(logs: readonly ChainLog[], { below }: { below: (limit: number) => number }): Chunk[] {
  const last = logs.at(-1)!.blockNumber;
  const chunks: Chunk[] = [];
  for (let fromBlock = 0; fromBlock <= last;) {
    const toBlock = Math.min(last, fromBlock + below(last));
    chunks.push(
      chunkOf(
        logs.filter(({ blockNumber }) => blockNumber >= fromBlock && blockNumber <= toBlock),
        { fromBlock, toBlock },
      ),
    );
    fromBlock = toBlock + 1;
  }
  return chunks;
}

class Interned<T> {
  readonly values: T[] = [];
  readonly #places = new Map<T, number>();

  placeOf(value: T): number {
    const known = this.#places.get(value);
    if (known !== undefined) return known;
    this.#places.set(value, this.values.length);
    return this.values.push(value) - 1;
  }
}

const bytesOf = (list: readonly Hex[]) => Buffer.from(list.map((hex) => hex.slice(2)).join(""), "hex");
