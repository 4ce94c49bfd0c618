import postgres, { type Sql } from "postgres";
import { toBytes } from "../offchain/bytea.ts";
import type { Log } from "../api/log.ts";
import { type Databases, openDatabases } from "../api/sql/database.ts";
import { type Api, type ApiConfig, createApi, type CreatePages } from "../api/server.ts";
import { readConfig } from "../config.ts";
import { createReadableDatabase } from "./database.ts";

/** A key that the API of a test takes. */
export const TEST_KEY = "test-key-0123456789";

/** An object of an answer. */
export type Row = Record<string, unknown>;
/** What answers look like to a test: a list and a single object at once, so that either reads without a cast. */
export type Body = { cursor: string | null; type: string; message: string; result: Row[] & Row };

/** The API in this process, and the database that it is on. */
export type TestApi = {
  api: Api;
  sql: Sql;
  url: string;
  /** A request with the test key; `init.headers` goes before it. */
  request: (path: string, init?: RequestInit) => Promise<Response>;
  /** The JSON of a GET and its status. */
  get: (path: string, headers?: Record<string, string>) => Promise<{ status: number; body: Body; headers: Headers }>;
  post: (path: string, body: unknown) => Promise<{ status: number; body: Body; headers: Headers }>;
  /** Another process on the same database. */
  another: (config?: Partial<ApiConfig>, log?: Log) => Promise<Api>;
  stop: () => Promise<void>;
};

export const MAINNET_ID = 1;
export const TESTNET_ID = 11155111;
export const ZERO = `0x${"0".repeat(40)}`;

/** The nth address, and the nth hash, of a test. */
export const addressOf = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;
export const hashOf = (n: number) => `0x${n.toString(16).padStart(64, "0")}`;
/** A token id in 0x and 64 hex digits. */
export const hexOf = (tokenId: bigint | number) => `0x${BigInt(tokenId).toString(16).padStart(64, "0")}`;

/** The API in this process on a database, without limits of requests unless `config` or `env` has some. */
export async function openApi(
  url: string,
  {
    readUrl = url,
    env = {},
    config = {},
    log = () => {},
    ...more
  }: {
    readUrl?: string;
    env?: Record<string, string>;
    config?: Partial<ApiConfig>;
    log?: Log;
    createPages?: CreatePages;
  } = {},
): Promise<Api & { databases: Databases }> {
  const databases = openDatabases({ url, readUrl });
  const unlimited = readConfig({ RATE_LIMIT: "1000000", RATE_BURST: "1000000", ...env });
  const api = await createApi({ config: { ...unlimited, ...config }, databases, log, ...more });
  const stop = async () => {
    await api.stop();
    await databases.end();
  };
  return { ...api, databases, stop };
}

/** The API on a database of its own with both networks reported, or those of `networks`. */
export async function createTestApi({
  config = {},
  networks = ["mainnet", "testnet"],
  createPages,
}: { config?: Partial<ApiConfig>; networks?: string[]; createPages?: CreatePages } = {}): Promise<TestApi> {
  const database = await createReadableDatabase();
  const sql = postgres(database.url, { max: 2, onnotice: () => {}, connection: { search_path: "offchain" } });
  for (const name of networks) await insertNetwork(sql, { name });
  const stops: (() => Promise<void>)[] = [];
  const another = async (more: Partial<ApiConfig> = {}, log: Log = () => {}) => {
    const process = await openApi(database.url, {
      config: { apiKeys: [TEST_KEY], ...config, ...more },
      log,
      ...(createPages && { createPages }),
    });
    stops.push(process.stop);
    return process;
  };
  const api = await another();
  const request = async (path: string, init: RequestInit = {}) =>
    api.app.request(path, { ...init, headers: { "x-api-key": TEST_KEY, ...(init.headers as Record<string, string>) } });
  const answer = async (response: Response) => ({
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Body,
  });
  return {
    api,
    sql,
    url: database.url,
    another,
    request,
    get: async (path, headers = {}) => answer(await request(path, { headers })),
    post: async (path, body) =>
      answer(
        await request(path, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      ),
    stop: async () => {
      for (const stop of stops) await stop();
      await sql.end();
      await database.drop();
    },
  };
}

async function insertNetwork(sql: Sql, { name }: { name: string }): Promise<void> {
  const row = { name, chain_id: name === "mainnet" ? MAINNET_ID : TESTNET_ID, state: "live", progress: 1 };
  await sql`insert into offchain.network ${sql(row)}`;
}

type Place = { block_number?: number; log_index?: number };

/** Inserts rows as the indexer would, into one network. */
export function inserter(sql: Sql, network: "mainnet" | "testnet" = "mainnet") {
  const schema = `onchain_${network}`;
  const chainId = network === "mainnet" ? MAINNET_ID : TESTNET_ID;
  const insert = (table: string, rows: Record<string, unknown>[]) =>
    sql`insert into ${sql(`${schema}.${table}`)} ${sql(rows)}`;
  return {
    contract: (
      contract_address: string,
      { contract_type = "ERC721", block_number = 1, log_index = 0 }: Place & { contract_type?: string } = {},
    ) =>
      insert("contract", [
        {
          contract_address: toBytes(contract_address),
          contract_type,
          is_first_generation: false,
          block_number,
          log_index,
        },
      ]),
    token: (
      contract_address: string,
      token_id: bigint | number,
      {
        owner = null,
        standard = "ERC721",
        mint = { address: addressOf(0xaaaa), block: 1, timestamp: 1_600_000_000, hash: hashOf(1) },
      }: {
        owner?: string | null;
        standard?: string;
        mint?: { address: string; block: number; timestamp: number; hash: string } | null;
      } = {},
    ) =>
      insert("token", [
        {
          contract_address: toBytes(contract_address),
          token_id: token_id.toString(),
          standard,
          owner: owner === null ? null : toBytes(owner),
          mint_address: mint && toBytes(mint.address),
          mint_block_number: mint && mint.block,
          mint_timestamp: mint && mint.timestamp,
          mint_transaction_hash: mint && toBytes(mint.hash),
        },
      ]),
    ownership: (
      contract_address: string,
      token_id: bigint | number,
      owner: string,
      balance: bigint | number,
      received: [number, number, number] = [1, 0, 0],
    ) =>
      insert("ownership", [
        {
          contract_address: toBytes(contract_address),
          token_id: token_id.toString(),
          owner: toBytes(owner),
          balance: balance.toString(),
          received_block_number: received[0],
          received_log_index: received[1],
          received_batch_index: received[2],
        },
      ]),
    event: (
      contract_address: string,
      token_id: bigint | number,
      place: [number, number, number],
      {
        event_type = "transfer",
        from = addressOf(0xaaaa),
        to = addressOf(0xbbbb),
        quantity = 1n,
      }: { event_type?: string; from?: string; to?: string; quantity?: bigint } = {},
    ) =>
      insert("token_event", [
        {
          block_number: place[0],
          log_index: place[1],
          batch_index: place[2],
          timestamp: 1_600_000_000 + place[0],
          event_type,
          contract_address: toBytes(contract_address),
          token_id: token_id.toString(),
          from_address: toBytes(from),
          to_address: toBytes(to),
          quantity: quantity.toString(),
          transaction_hash: toBytes(hashOf(place[0])),
        },
      ]),
    contractMetadata: (contract_address: string, values: Record<string, unknown>) =>
      sql`insert into offchain.contract_metadata ${sql({ chain_id: chainId, contract_address: toBytes(contract_address), ...values })}`,
    tokenMetadata: (
      contract_address: string,
      token_id: bigint | number,
      { raw = "", ...values }: { raw?: string } & Record<string, unknown>,
    ) =>
      sql`insert into offchain.token_metadata ${sql({
        chain_id: chainId,
        contract_address: toBytes(contract_address),
        token_id: token_id.toString(),
        raw_json: JSON.stringify(raw),
        ...values,
      })}`,
  };
}
