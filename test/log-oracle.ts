import type { Hex } from "viem";
import type { Row } from "../src/store.ts";
import type { EventRow, OnchainTables } from "./onchain-tables.ts";

/**
 * What an index of a chain must hold, computed from raw logs by a program that shares nothing with the indexer: it reads
 * words out of the hex itself, and keeps all state in memory.
 */

/** A log as `eth_getLogs` answers it. */
export type RawLog = {
  address: Hex;
  topics: Hex[];
  data: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  logIndex: Hex;
  transactionHash: Hex;
};

/** topic0 of each event. Source: the standards' own texts, and the CryptoPunks market of 2017. */
const TOPIC = {
  transfer: "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
  consecutive: "0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d",
  single: "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62",
  batch: "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb",
  assign: "0x8a0e37b73a0d9c82e205d4d1a3ff3d0b57ce5f4d7bccf6bac03336dc101cb7ba",
  punkTransfer: "0x05af636b70da6819000c49f85b21fa82081c632069bb626f30932034099107d8",
  punkBought: "0x58e5d5a525e3b40bc15abaa38b5882678db1ee68befd2f60bafe3a7fd06db9e3",
  metadataUpdate: "0xf8e1a15aba9398e019f0b49df1a4fde98ee17ae345cb5f6b5e2c27f5033e8ce7",
  batchMetadataUpdate: "0x6bd5c950a8d8df17f772f5af37cb3655737899cbf903264b9795592da439661c",
  uri: "0x6bb7ff708619ba0610cba295a58592e0451dee2622938c8755667688daf3529b",
  contractUri: "0xa5d4097edda6d87cb9329af83fb3712ef77eeb13738ffe43cc35a4ce305ad962",
  contractUriNamed: "0xc9c7c3fe08b88b4df9d4d47ef47d2c43d55c025a0ba88ca442580ed9e7348a16",
  contractUriNew: "0x905d981207a7d0b6c62cc46ab0be2a076d0298e4a86d0ab79882dbd01ac37378",
  contractMetadata: "0x74b7c2afa3f89c562b59674a101e2c48bceeb27cdb620afefa14446f1ffa487b",
};

const ZERO = `0x${"0".repeat(40)}` as const;
const MAX = 2n ** 256n - 1n;
const LARGEST_RANGE = 10_000n;
const LARGEST_BATCH = 10_000;

type Move = { standard: string; tokenId: bigint; from: Hex; to: Hex; quantity: bigint };
type Reading = { moves: Move[]; isFirstGeneration?: boolean } | { skip: string };

/** What an index of everything that a node has must hold. @param options.punkMarkets addresses in lower case */
export async function computeExpected(
  { request }: { request: <T>(method: string, ...params: unknown[]) => Promise<T> },
  { punkMarkets = [] }: { punkMarkets?: Hex[] } = {},
): Promise<OnchainTables> {
  const logs = await request<RawLog[]>("eth_getLogs", { fromBlock: "0x0", toBlock: "latest" });
  const timestamps = new Map<number, number>();
  for (const number of new Set(logs.map((log) => log.blockNumber))) {
    const block = await request<{ timestamp: Hex }>("eth_getBlockByNumber", number, false);
    timestamps.set(Number(number), Number(block.timestamp));
  }
  return computeTables(logs, { timestamps, punkMarkets });
}

/**
 * @param options.timestamps Unix seconds of each block that has logs
 * @param options.punkMarkets addresses in lower case
 */
export function computeTables(
  logs: RawLog[],
  { timestamps, punkMarkets = [] }: { timestamps: Map<number, number>; punkMarkets?: Hex[] },
): OnchainTables {
  const events: EventRow[] = [];
  const tokens = new Map<string, Row<"token">>();
  const ownerships = new Map<string, Row<"ownership">>();
  const contracts = new Map<Hex, Row<"contract">>();
  const skipped: Row<"skippedLog">[] = [];
  const updates: Row<"metadataUpdate">[] = [];
  let previous: RawLog | undefined;

  for (const log of logs) {
    const place = {
      block_number: Number(log.blockNumber),
      log_index: Number(log.logIndex),
      contract_address: log.address.toLowerCase() as Hex,
    };
    const update = readUpdate(log);
    if (update) updates.push({ ...place, ...update });

    const ownerOf = (tokenId: bigint) => tokens.get(`${place.contract_address} ${tokenId}`)?.owner ?? undefined;
    const reading = punkMarkets.includes(place.contract_address)
      ? readPunk(log, { previous, ownerOf })
      : readStandard(log);
    previous = log;
    if (!reading) continue;
    if ("skip" in reading) {
      skipped.push({ ...place, reason: reading.skip });
      continue;
    }

    const isOther = ({ standard, tokenId }: Move) => {
      const known = tokens.get(`${place.contract_address} ${tokenId}`);
      return known !== undefined && known.standard !== standard;
    };
    if (reading.moves.some(isOther)) skipped.push({ ...place, reason: "other standard" });
    const timestamp = timestamps.get(place.block_number)!;
    const mint = { timestamp, transaction_hash: log.transactionHash };

    for (const [index, move] of reading.moves.entries()) {
      if (isOther(move)) continue;
      contracts.set(
        place.contract_address,
        contracts.get(place.contract_address) ?? {
          ...place,
          contract_type: move.standard,
          is_first_generation: reading.isFirstGeneration ?? false,
        },
      );
      events.push({
        ...place,
        batch_index: index,
        event_type: move.from === ZERO ? "mint" : move.to === ZERO ? "burn" : "transfer",
        token_id: move.tokenId,
        from_address: move.from,
        to_address: move.to,
        quantity: move.quantity,
        ...mint,
      });
      const key = `${place.contract_address} ${move.tokenId}`;
      const token: Row<"token"> = tokens.get(key) ?? {
        contract_address: place.contract_address,
        token_id: move.tokenId,
        standard: move.standard,
        owner: null,
        mint_address: null,
        mint_block_number: null,
        mint_timestamp: null,
        mint_transaction_hash: null,
      };
      if (move.from === ZERO && token.mint_address === null) {
        token.mint_address = move.to;
        token.mint_block_number = place.block_number;
        token.mint_timestamp = timestamp;
        token.mint_transaction_hash = log.transactionHash;
      }
      tokens.set(key, token);
      if (move.standard !== "ERC1155") {
        token.owner = move.to;
        continue;
      }
      if (move.quantity === 0n) continue;
      const sender = ownerships.get(`${key} ${move.from}`);
      if (sender) sender.balance = sender.balance < move.quantity ? 0n : sender.balance - move.quantity;
      if (move.to === ZERO) continue;
      const held = ownerships.get(`${key} ${move.to}`)?.balance ?? 0n;
      ownerships.set(`${key} ${move.to}`, {
        contract_address: place.contract_address,
        token_id: move.tokenId,
        owner: move.to,
        balance: held + move.quantity > MAX ? MAX : held + move.quantity,
        received_block_number: place.block_number,
        received_log_index: place.log_index,
        received_batch_index: index,
      });
    }
  }

  const byKey = (a: { contract_address: Hex; token_id: bigint; owner?: Hex | null }, b: typeof a) =>
    compare(a.contract_address, b.contract_address) || compare(a.token_id, b.token_id) || compare(a.owner!, b.owner!);
  return {
    events,
    tokens: [...tokens.values()].toSorted(byKey),
    ownerships: [...ownerships.values()].toSorted(byKey),
    contracts: [...contracts.values()],
    skipped,
    updates,
  };
}

function compare<T extends string | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** ERC-721 of both generations, ERC-2309, ERC-1155; undefined for a log that is none of them, or broken. */
function readStandard({ topics, data }: RawLog): Reading | undefined {
  const words = wordsOf(data);
  const [topic, ...indexed] = topics;
  if (topic === TOPIC.transfer && topics.length === 4)
    return {
      moves: [
        {
          standard: "ERC721",
          from: account(indexed[0]!),
          to: account(indexed[1]!),
          tokenId: BigInt(indexed[2]!),
          quantity: 1n,
        },
      ],
    };
  if (topic === TOPIC.transfer && topics.length === 1 && words.length >= 3)
    return {
      isFirstGeneration: true,
      moves: [
        {
          standard: "ERC721",
          from: account(words[0]!),
          to: account(words[1]!),
          tokenId: BigInt(words[2]!),
          quantity: 1n,
        },
      ],
    };
  if (topic === TOPIC.consecutive && topics.length === 4 && words.length > 0) {
    const [first, last] = [BigInt(indexed[0]!), BigInt(words[0]!)];
    if (last < first) return { skip: "range reversed" };
    if (last - first >= LARGEST_RANGE) return { skip: "range too large" };
    const [from, to] = [account(indexed[1]!), account(indexed[2]!)];
    const moves: Move[] = [];
    for (let tokenId = first; tokenId <= last; tokenId++)
      moves.push({ standard: "ERC721", tokenId, from, to, quantity: 1n });
    return { moves };
  }
  if (topics.length !== 4) return undefined;
  const [from, to] = [account(indexed[1]!), account(indexed[2]!)];
  if (topic === TOPIC.single && words.length >= 2)
    return { moves: [{ standard: "ERC1155", tokenId: BigInt(words[0]!), from, to, quantity: BigInt(words[1]!) }] };
  if (topic === TOPIC.batch && words.length >= 2) {
    const [ids, values] = [arrayAt(data, words[0]!), arrayAt(data, words[1]!)];
    if (!ids || !values) return undefined;
    if (ids.length !== values.length) return { skip: "batch arrays differ in length" };
    if (ids.length > LARGEST_BATCH) return { skip: "batch too large" };
    return {
      moves: ids.map((tokenId, index) => ({ standard: "ERC1155", tokenId, from, to, quantity: values[index]! })),
    };
  }
  return undefined;
}

/** The market of 2017: the Transfer log directly before a PunkBought without receiver has his name. */
function readPunk(
  { topics, data }: RawLog,
  { previous, ownerOf }: { previous: RawLog | undefined; ownerOf: (tokenId: bigint) => Hex | undefined },
): Reading | undefined {
  const [word] = wordsOf(data);
  const one = (tokenId: bigint, from: Hex, to: Hex): Reading => ({
    moves: [{ standard: "CRYPTOPUNKS", tokenId, from, to, quantity: 1n }],
  });
  if (topics[0] === TOPIC.assign) return one(BigInt(word!), ZERO, account(topics[1]!));
  if (topics[0] === TOPIC.punkTransfer) return one(BigInt(word!), account(topics[1]!), account(topics[2]!));
  if (topics[0] !== TOPIC.punkBought) return undefined;
  const [tokenId, from, to] = [BigInt(topics[1]!), account(topics[2]!), account(topics[3]!)];
  if (to === ZERO) {
    if (previous?.topics[0] !== TOPIC.transfer) throw new Error("An accepted bid without the Transfer log before it.");
    return one(tokenId, from, account(previous.topics[2]!));
  }
  return one(tokenId, from === to ? (ownerOf(tokenId) ?? from) : from, to);
}

function readUpdate({
  topics,
  data,
}: RawLog): Pick<Row<"metadataUpdate">, "from_token_id" | "to_token_id"> | undefined {
  const words = wordsOf(data).map(BigInt);
  const range = (first: bigint, last: bigint) => ({ from_token_id: first, to_token_id: last });
  // Many contracts index what ERC-4906 doesn't.
  const ids = topics.length > 1 ? topics.slice(1).map(BigInt) : words;
  if (topics[0] === TOPIC.metadataUpdate && ids.length > 0) return range(ids[0]!, ids[0]!);
  if (topics[0] === TOPIC.batchMetadataUpdate && ids.length > 1)
    return ids[0]! <= ids[1]! ? range(ids[0]!, ids[1]!) : undefined;
  if (topics[0] === TOPIC.uri && topics.length === 2 && words.length > 1)
    return range(BigInt(topics[1]!), BigInt(topics[1]!));
  const { contractUri, contractUriNamed, contractUriNew, contractMetadata } = TOPIC;
  if ([contractUri, contractUriNamed, contractUriNew, contractMetadata].includes(topics[0]!))
    return { from_token_id: null, to_token_id: null };
  return undefined;
}

function wordsOf(data: Hex): Hex[] {
  return (data.slice(2).match(/.{64}/g) ?? []).map((word): Hex => `0x${word}`);
}

/** uint256[] at a byte offset, or undefined where it does not fit into the data. */
function arrayAt(data: Hex, offset: Hex): bigint[] | undefined {
  const bytes = BigInt((data.length - 2) / 2);
  const start = BigInt(offset);
  if (start + 32n > bytes) return undefined;
  const read = (at: bigint) => BigInt(`0x${data.slice(2 + Number(at) * 2, 66 + Number(at) * 2)}`);
  const length = read(start);
  if (start + 32n + length * 32n > bytes) return undefined;
  return Array.from({ length: Number(length) }, (_, index) => read(start + 32n + BigInt(index) * 32n));
}

/** The last 20 bytes of a word. */
function account(word: Hex): Hex {
  return `0x${word.slice(-40)}`;
}
