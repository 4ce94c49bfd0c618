/**
 * What the work costs at least: a program for the standards of the generated chain and nothing else. One Node thread
 * reads raw logs in large ranges, decodes them by hand, keeps the state in memory and writes it by COPY. No cache, no
 * reorgs, no restarts, no bounds on memory.
 *
 *   DATABASE_URL=… RPC_URL=… node bench/lower-bound.ts
 *
 * Prints "ready" when the tables are committed, and waits to be ended, so that its CPU time can still be read.
 */
import { once } from "node:events";
import type { Writable } from "node:stream";
import type { TransactionSql } from "postgres";
import { Agent, request } from "undici";
import { createPool } from "../postgres/pool.ts";

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const TRANSFER_SINGLE = "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62";
const TRANSFER_BATCH = "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb";
const ZERO_ADDRESS = `0x${"0".repeat(40)}`;

/** Logs that one request should bring: 5 to 10 MB of JSON. The number of blocks follows from it. */
const LOGS_PER_REQUEST = 8_000;
const FIRST_BLOCKS_PER_REQUEST = 20;
/** Characters that are handed to a COPY at once. */
const COPY_CHUNK_LENGTH = 256 * 1024;

type Log = { address: string; topics: string[]; data: string; blockNumber: string; logIndex: string };
type Contract = {
  standard: "ERC721" | "ERC1155";
  transfers: number;
  owners: Map<string, string>;
  supplies: Map<string, bigint>;
  balances: Map<string, bigint>;
};
type Rows = { add: (line: string) => void; drain: () => Promise<void>; end: () => Promise<void> };

const TABLES = {
  event: {
    columns: `block_number integer not null, log_index integer not null, batch_index integer not null,
      contract text not null, token_id numeric(78, 0) not null, from_address text not null, to_address text not null,
      amount numeric(78, 0) not null`,
    key: "block_number, log_index, batch_index",
  },
  token: {
    columns: "contract text not null, token_id numeric(78, 0) not null, owner text, supply numeric(78, 0) not null",
    key: "contract, token_id",
  },
  ownership: {
    columns: `contract text not null, token_id numeric(78, 0) not null, owner text not null,
      balance numeric(78, 0) not null`,
    key: "contract, token_id, owner",
  },
  contract: { columns: "address text not null, standard text not null, transfers integer not null", key: "address" },
};

const sql = createPool(process.env.DATABASE_URL ?? "", { max: Object.keys(TABLES).length });
const contracts = new Map<string, Contract>();

await copyInto("event", async (rows) => {
  for await (const logs of readLogs(process.env.RPC_URL ?? "")) {
    for (const log of logs) applyLog(log, rows);
    await rows.drain();
  }
});
await Promise.all([
  copyInto("contract", writeContracts),
  copyInto("token", writeTokens),
  copyInto("ownership", writeOwnerships),
]);
await sql.end();
console.log("ready");
setInterval(() => {}, 60_000);

// ------------------------------------------------------------------------------------------------ fetch

/** All logs up to the head. The next range is on its way while one is worked on. */
async function* readLogs(url: string): AsyncGenerator<Log[]> {
  const agent = new Agent({ keepAliveTimeout: 60_000 });
  const call = async (method: string, params: unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await request(url, { method: "POST", body, dispatcher: agent });
    const { result, error } = JSON.parse(await response.body.text()) as { result?: unknown; error?: unknown };
    if (result === undefined) throw new Error(`${method} failed: ${JSON.stringify(error)}`);
    return result;
  };
  const topics = [[TRANSFER, TRANSFER_SINGLE, TRANSFER_BATCH]];
  const getLogs = (from: number, to: number) =>
    call("eth_getLogs", [{ fromBlock: hex(from), toBlock: hex(to), topics }]) as Promise<Log[]>;

  const head = Number(await call("eth_blockNumber", []));
  let blocks = FIRST_BLOCKS_PER_REQUEST;
  let from = 0;
  let next: Promise<Log[]> | undefined = getLogs(from, Math.min(head, from + blocks - 1));
  while (next) {
    const logs: Log[] = await next;
    const read = blocks;
    from += read;
    blocks = Math.min(read * 4, Math.max(1, Math.floor((read * LOGS_PER_REQUEST) / Math.max(1, logs.length))));
    next = from <= head ? getLogs(from, Math.min(head, from + blocks - 1)) : undefined;
    yield logs;
  }
  await agent.close();
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}

// ------------------------------------------------------------------------------------------------ decode, apply

function applyLog({ address, topics, data, blockNumber, logIndex }: Log, rows: Rows): void {
  const [kind = "", first = "", second = "", third = ""] = topics;
  const contract = contracts.get(address) ?? addContract(address, kind === TRANSFER ? "ERC721" : "ERC1155");
  const place = `${Number(blockNumber)}\t${Number(logIndex)}\t`;

  if (kind === TRANSFER) {
    const [from, to, tokenId] = [addressOf(first), addressOf(second), decimalOf(third, 2)];
    contract.owners.set(tokenId, to);
    contract.transfers++;
    rows.add(`${place}0\t${address}\t${tokenId}\t${from}\t${to}\t1\n`);
    return;
  }

  const [from, to] = [addressOf(second), addressOf(third)];
  const isBatch = kind === TRANSFER_BATCH;
  const ids = isBatch ? 2 + 64 + 2 * Number(`0x${data.slice(2, 66)}`) : 2;
  const count = isBatch ? Number(`0x${data.slice(ids - 64, ids)}`) : 1;
  const amounts = isBatch ? 2 + 64 + 2 * Number(`0x${data.slice(66, 130)}`) : 66;
  for (let index = 0; index < count; index++) {
    const tokenId = decimalOf(data, ids + 64 * index);
    const amount = decimalOf(data, amounts + 64 * index);
    move(contract, { tokenId, from, to, amount: BigInt(amount) });
    contract.transfers++;
    rows.add(`${place}${index}\t${address}\t${tokenId}\t${from}\t${to}\t${amount}\n`);
  }
}

function move(
  { supplies, balances }: Contract,
  { tokenId, from, to, amount }: { tokenId: string; from: string; to: string; amount: bigint },
): void {
  const add = (map: Map<string, bigint>, key: string, change: bigint) => map.set(key, (map.get(key) ?? 0n) + change);
  if (from === ZERO_ADDRESS) add(supplies, tokenId, amount);
  else add(balances, `${tokenId}\t${from}`, -amount);
  if (to === ZERO_ADDRESS) add(supplies, tokenId, -amount);
  else add(balances, `${tokenId}\t${to}`, amount);
}

function addContract(address: string, standard: Contract["standard"]): Contract {
  const contract: Contract = {
    standard,
    transfers: 0,
    owners: new Map(),
    supplies: new Map(),
    balances: new Map(),
  };
  contracts.set(address, contract);
  return contract;
}

function addressOf(topic: string): string {
  return `0x${topic.slice(26)}`;
}

/** The 32 bytes at `start`, in decimal. Most are small: a BigInt is made only where a Number would lose digits. */
function decimalOf(data: string, start: number): string {
  const small = start + 64 - 12;
  for (let at = start; at < small; at++) {
    if (data.charCodeAt(at) !== 48) return BigInt(`0x${data.slice(start, start + 64)}`).toString();
  }
  return String(Number.parseInt(data.slice(small, start + 64), 16));
}

// ------------------------------------------------------------------------------------------------ write

/** Makes the table, fills it and adds its key, in one transaction. */
async function copyInto(name: keyof typeof TABLES, fill: (rows: Rows) => void | Promise<void>): Promise<void> {
  const { columns, key } = TABLES[name];
  await sql.begin(async (transaction) => {
    await transaction.unsafe(`create table ${name} (${columns})`);
    const rows = createRows(await startCopy(transaction, name));
    await fill(rows);
    await rows.end();
    await transaction.unsafe(`alter table ${name} add primary key (${key})`);
  });
}

async function startCopy(transaction: TransactionSql, name: string): Promise<Writable> {
  return transaction`copy ${transaction(name)} from stdin`.writable();
}

function createRows(stream: Writable): Rows {
  let pending = "";
  let isFull = false;
  const flush = () => {
    isFull = !stream.write(pending);
    pending = "";
  };
  return {
    add: (line) => {
      pending += line;
      if (pending.length >= COPY_CHUNK_LENGTH) flush();
    },
    drain: async () => {
      if (isFull && stream.writableNeedDrain) await once(stream, "drain");
    },
    end: async () => {
      const finished = once(stream, "finish");
      stream.end(pending);
      await finished;
    },
  };
}

function writeContracts(rows: Rows): void {
  for (const [address, { standard, transfers }] of contracts) rows.add(`${address}\t${standard}\t${transfers}\n`);
}

async function writeTokens(rows: Rows): Promise<void> {
  for (const [address, { owners, supplies }] of contracts) {
    for (const [tokenId, owner] of owners)
      rows.add(`${address}\t${tokenId}\t${owner}\t${owner === ZERO_ADDRESS ? 0 : 1}\n`);
    for (const [tokenId, supply] of supplies) rows.add(`${address}\t${tokenId}\t\\N\t${supply}\n`);
    await rows.drain();
  }
}

async function writeOwnerships(rows: Rows): Promise<void> {
  for (const [address, { owners, balances }] of contracts) {
    for (const [tokenId, owner] of owners)
      if (owner !== ZERO_ADDRESS) rows.add(`${address}\t${tokenId}\t${owner}\t1\n`);
    for (const [key, balance] of balances) if (balance > 0n) rows.add(`${address}\t${key}\t${balance}\n`);
    await rows.drain();
  }
}
