import { resolve } from "node:path";
import { z } from "zod";
import { withoutSecrets } from "./config-secret.ts";
import {
  addresses,
  apiKey,
  baseUrl,
  databaseUrl,
  filledAddresses,
  filledList,
  hostAndPort,
  hostName,
  integer,
  ipRange,
  list,
  redisUrl,
  url,
} from "./config-value.ts";

/** The networks that one service serves. */
export const NETWORKS = ["mainnet", "testnet"] as const;
/** One of `NETWORKS`, by which its variables are named: `MAINNET_…`, `TESTNET_…`. */
export type Network = (typeof NETWORKS)[number];

/**
 * What defines the chain that a network follows. `contracts` is "*" for every NFT contract. `firstGenerationContracts`:
 * under "*" those whose Transfers are taken though they index nothing; those named also where no token id is indexed.
 */
export type NetworkConfig = {
  rpcUrls: string[];
  chainId: number | undefined;
  startBlock: number;
  endBlock: number | undefined;
  contracts: string[] | "*";
  firstGenerationContracts: string[] | "*" | undefined;
};

/** What LOG_LEVEL may be, from least to most that is logged. */
const LOG_LEVELS = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;
/** How much is logged. */
export type LogLevel = (typeof LOG_LEVELS)[number];
/** Whether a line of `level` is logged where LOG_LEVEL is `logLevel`. */
export const isLogged = (level: LogLevel, logLevel: LogLevel): boolean =>
  LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(logLevel);

/** A variable that can't be used. Its message is one line for the operator. */
export class ConfigError extends Error {}

/** An empty value is an unset one, as in a .env file whose lines are kept for later. */
const optional = <T extends z.ZodType>(type: T) => z.preprocess((value) => (value === "" ? undefined : value), type);

const SIGNS_ENCODED = "signs in a password percent-encoded (%25 for a percent sign)";
const DATABASE_ACCEPTED = `a URL like postgres://user:password@host:5432/name, ${SIGNS_ENCODED}, sslmode as disable, require or verify-full, and no other parameters but options, connect_timeout and target_session_attrs`;
const REDIS_ACCEPTED = `a URL like redis://:password@host:6379/0, ${SIGNS_ENCODED}`;
const BASE_URLS_ACCEPTED = "http or https URLs without ? or #, comma-separated";
const HOST_ACCEPTED = "a host name, with or without a port";
const BLOCK = { from: 0, to: Number.MAX_SAFE_INTEGER };
const BLOCK_ACCEPTED = `a whole number from ${BLOCK.from} to ${BLOCK.to}`;

const CONTRACTS = z.union([z.literal("*"), filledAddresses]);

/** Each variable of a network, without its prefix. */
const ofNetwork = {
  RPC_URL: [filledList(url("http:", "https:")).optional(), "http or https URLs, comma-separated"],
  CHAIN_ID: [
    integer({ from: 1, to: Number.MAX_SAFE_INTEGER }).optional(),
    `a chain id in decimal, from 1 to ${Number.MAX_SAFE_INTEGER}`,
  ],
  START_BLOCK: [integer(BLOCK).default(0), BLOCK_ACCEPTED],
  END_BLOCK: [integer(BLOCK).optional(), BLOCK_ACCEPTED],
  CONTRACTS: [CONTRACTS.default("*"), "addresses of 0x and 40 hex digits, comma-separated, or *"],
  FIRST_GENERATION_CONTRACTS: [
    z.union([z.literal("none").transform((): string[] => []), CONTRACTS]).optional(),
    "addresses of 0x and 40 hex digits, comma-separated, * or none",
  ],
} as const;

/** Each variable: how it is read, and what its error message says is accepted. */
const variables = {
  PORT: [integer({ from: 1, to: 65_535 }).default(3000), "a port from 1 to 65535"],
  HOST: [z.string().default("127.0.0.1"), "an address to listen on"],
  DATABASE_URL: [databaseUrl.optional(), DATABASE_ACCEPTED],
  DATABASE_READ_URL: [databaseUrl.optional(), DATABASE_ACCEPTED],
  // Only a shell replaces a ~, which is not what reads `.env`: the data would lie in a folder of that name.
  DATA_DIR: [z.string().regex(/^[^~]/).default(".data"), "a folder, its path written out instead of ~"],
  ...networkVariables("MAINNET"),
  ...networkVariables("TESTNET"),
  API_KEYS: [list(apiKey).default([]), "keys of up to 200 printable ASCII characters, comma-separated"],
  TRUSTED_PROXIES: [list(ipRange).default([]), "addresses or CIDR ranges, comma-separated"],
  REDIS_URL: [redisUrl.optional(), REDIS_ACCEPTED],
  KEY_REGISTRATION: [z.enum(["open", "closed"]).default("open"), "open or closed"],
  POLL_INTERVAL: [integer({ from: 100, to: 30_000 }).default(500), "milliseconds, from 100 to 30000"],
  RATE_LIMIT: [integer({ from: 1, to: 1_000_000 }).default(50), "requests a second, from 1 to 1000000"],
  RATE_BURST: [integer({ from: 1, to: 1_000_000 }).default(100), "a whole number from 1 to 1000000"],
  METADATA_REFRESH_COOLDOWN: [integer({ from: 0, to: 31_536_000 }).default(600), "seconds, from 0 to 31536000"],
  METADATA_CONCURRENCY: [integer({ from: 1, to: 10_000 }).default(64), "a whole number from 1 to 10000"],
  IPFS_GATEWAYS: [
    filledList(baseUrl).default(["https://ipfs.io", "https://dweb.link", "https://gateway.pinata.cloud"]),
    BASE_URLS_ACCEPTED,
  ],
  ARWEAVE_GATEWAYS: [
    filledList(baseUrl).default(["https://arweave.net", "https://ar-io.net", "https://permagate.io"]),
    BASE_URLS_ACCEPTED,
  ],
  FETCH_ALLOW_HOSTS: [list(hostAndPort).default([]), "host:port pairs, comma-separated"],
  MEDIA_STORE: [z.enum(["file", "s3"]).default("file"), "file or s3"],
  S3_ENDPOINT: [url("http:", "https:").optional(), "an http or https URL"],
  S3_BUCKET: [z.string().optional(), "a bucket's name"],
  S3_ACCESS_KEY_ID: [z.string().optional(), "a text"],
  S3_SECRET_ACCESS_KEY: [z.string().optional(), "a text"],
  S3_REGION: [z.string().default("us-east-1"), "a region's name"],
  CRYPTOPUNKS_ADDRESSES: [addresses.default([]), "addresses of 0x and 40 hex digits, comma-separated"],
  SEAPORT_ADDRESSES: [addresses.default([]), "addresses of 0x and 40 hex digits, comma-separated"],
  INDEXER_HOST: [hostName.optional(), HOST_ACCEPTED],
  TESTNET_HOST: [hostName.optional(), HOST_ACCEPTED],
  ORDERBOOK_HOST: [hostName.optional(), HOST_ACCEPTED],
  MARKETPLACE_HOST: [hostName.optional(), HOST_ACCEPTED],
  LOG_LEVEL: [
    z.enum(LOG_LEVELS).default("info"),
    new Intl.ListFormat("en-GB", { type: "disjunction" }).format(LOG_LEVELS),
  ],
} as const satisfies Record<string, readonly [z.ZodType, string]>;

/** The variables of a network, under its prefix. */
function networkVariables<P extends "MAINNET" | "TESTNET">(
  prefix: P,
): { [K in keyof typeof ofNetwork as `${P}_${K}`]: (typeof ofNetwork)[K] } {
  const named = Object.entries(ofNetwork).map(([name, variable]) => [`${prefix}_${name}`, variable]);
  return Object.fromEntries(named) as ReturnType<typeof networkVariables<P>>;
}

/** Whether a variable of this name is read. */
export const isVariable = (name: string): boolean => Object.hasOwn(variables, name);

type Values = { [K in keyof typeof variables]: z.output<(typeof variables)[K][0]> };

/** The whole configuration, checked. */
export type Config = ReturnType<typeof readConfig>;

/**
 * Reads the environment.
 *
 * @throws ConfigError that names the first bad variable, its value and what is accepted
 */
export function readConfig(env: Record<string, string | undefined>) {
  const values = Object.fromEntries(
    Object.entries(variables).map(([name, [type, accepted]]) => [name, readVariable(env, { name, type, accepted })]),
  ) as Values;
  checkTogether(values);

  return {
    port: values.PORT,
    host: values.HOST,
    databaseUrl: values.DATABASE_URL,
    databaseReadUrl: values.DATABASE_READ_URL,
    dataDir: resolve(values.DATA_DIR),
    networks: { mainnet: networkOf(values, "MAINNET"), testnet: networkOf(values, "TESTNET") },
    pollIntervalMs: values.POLL_INTERVAL,
    apiKeys: values.API_KEYS,
    trustedProxies: values.TRUSTED_PROXIES,
    redisUrl: values.REDIS_URL,
    keyRegistration: values.KEY_REGISTRATION,
    rateLimit: values.RATE_LIMIT,
    // At least the requests of a second can come at once.
    rateBurst: Math.max(values.RATE_LIMIT, values.RATE_BURST),
    refreshCooldownSeconds: values.METADATA_REFRESH_COOLDOWN,
    metadataConcurrency: values.METADATA_CONCURRENCY,
    ipfsGateways: values.IPFS_GATEWAYS,
    arweaveGateways: values.ARWEAVE_GATEWAYS,
    fetchAllowHosts: values.FETCH_ALLOW_HOSTS,
    mediaStore: values.MEDIA_STORE,
    s3: {
      endpoint: values.S3_ENDPOINT,
      bucket: values.S3_BUCKET,
      accessKeyId: values.S3_ACCESS_KEY_ID,
      secretAccessKey: values.S3_SECRET_ACCESS_KEY,
      region: values.S3_REGION,
    },
    cryptopunksAddresses: values.CRYPTOPUNKS_ADDRESSES,
    seaportAddresses: values.SEAPORT_ADDRESSES,
    hosts: {
      indexer: values.INDEXER_HOST,
      testnet: values.TESTNET_HOST,
      orderbook: values.ORDERBOOK_HOST,
      marketplace: values.MARKETPLACE_HOST,
    },
    logLevel: values.LOG_LEVEL,
  };
}

/** @throws ConfigError where variables that are good by themselves don't go together */
function checkTogether(values: Values): void {
  for (const network of ["MAINNET", "TESTNET"] as const) {
    const endBlock = values[`${network}_END_BLOCK`];
    if (endBlock !== undefined && endBlock < values[`${network}_START_BLOCK`])
      throw new ConfigError(`${network}_END_BLOCK is ${endBlock}. Expected at least ${network}_START_BLOCK.`);
  }
  if (values.DATABASE_READ_URL !== undefined && values.DATABASE_URL === undefined)
    throw new ConfigError("DATABASE_URL is not set. Expected it wherever DATABASE_READ_URL is.");
  const hosts = new Map<string, string>();
  for (const name of ["INDEXER_HOST", "TESTNET_HOST", "ORDERBOOK_HOST", "MARKETPLACE_HOST"] as const) {
    const host = values[name];
    if (host === undefined) continue;
    const other = hosts.get(host);
    if (other !== undefined) throw new ConfigError(`${name} is "${host}", as ${other} is. Expected a name of its own.`);
    hosts.set(host, name);
  }
  if (values.MEDIA_STORE === "s3") {
    for (const name of ["S3_ENDPOINT", "S3_BUCKET", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"] as const)
      if (!values[name]) throw new ConfigError(`${name} is not set. Expected it wherever MEDIA_STORE is s3.`);
  }
}

function readVariable(
  env: Record<string, string | undefined>,
  { name, type, accepted }: { name: string; type: z.ZodType; accepted: string },
): unknown {
  const result = optional(type).safeParse(env[name]?.trim());
  if (result.success) return result.data;
  throw new ConfigError(`${name} is "${withoutSecrets(name, env[name] ?? "")}". Expected ${accepted}.`);
}

function networkOf(values: Values, prefix: "MAINNET" | "TESTNET"): NetworkConfig | undefined {
  const rpcUrls = values[`${prefix}_RPC_URL`];
  if (!rpcUrls) return undefined;
  return {
    rpcUrls,
    chainId: values[`${prefix}_CHAIN_ID`],
    startBlock: values[`${prefix}_START_BLOCK`],
    endBlock: values[`${prefix}_END_BLOCK`],
    contracts: values[`${prefix}_CONTRACTS`],
    firstGenerationContracts: values[`${prefix}_FIRST_GENERATION_CONTRACTS`],
  };
}
