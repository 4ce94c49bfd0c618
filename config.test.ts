import { expect, test } from "vitest";
import { ConfigError, readConfig } from "./config.ts";

const RPC = { MAINNET_RPC_URL: "http://localhost:8545" };

const BAD: [variable: string, value: string, others?: Record<string, string>][] = [
  ["PORT", "0"],
  ["PORT", "65536"],
  ["PORT", "3000.5"],
  ["PORT", "http"],
  ["DATABASE_URL", "localhost"],
  ["DATABASE_URL", "mysql://localhost"],
  ["DATABASE_URL", "postgres://%2"],
  ["DATABASE_READ_URL", "http://localhost"],
  ["DATA_DIR", "~/nft"],
  ["MAINNET_RPC_URL", "localhost:8545"],
  ["MAINNET_RPC_URL", "http://localhost:8545,nonsense"],
  ["MAINNET_RPC_URL", "ws://localhost:8545"],
  ["MAINNET_RPC_URL", ","],
  ["MAINNET_CHAIN_ID", "0x1"],
  ["MAINNET_CHAIN_ID", "0"],
  ["MAINNET_START_BLOCK", "-1"],
  ["MAINNET_END_BLOCK", "latest"],
  ["MAINNET_CONTRACTS", "0x1234"],
  ["MAINNET_CONTRACTS", ","],
  ["MAINNET_FIRST_GENERATION_CONTRACTS", "all"],
  ["MAINNET_CONTRACTS", `0x${"00".repeat(20)},*`],
  ["TESTNET_RPC_URL", "ftp://localhost", RPC],
  ["TESTNET_START_BLOCK", "1e3", RPC],
  ["TRUSTED_PROXIES", "10.0.0.0/33"],
  ["TRUSTED_PROXIES", "10.0.0.0/8/8"],
  ["TRUSTED_PROXIES", "fe80::/200"],
  ["TRUSTED_PROXIES", "proxy.example"],
  ["REDIS_URL", "localhost:6379"],
  ["KEY_REGISTRATION", "yes"],
  ["RATE_LIMIT", "0"],
  ["RATE_BURST", "-5"],
  ["METADATA_REFRESH_COOLDOWN", "10m"],
  ["METADATA_REFRESH_COOLDOWN", "31536001"],
  ["POLL_INTERVAL", "99"],
  ["METADATA_CONCURRENCY", "0"],
  ["IPFS_GATEWAYS", "ipfs.io"],
  ["IPFS_GATEWAYS", ","],
  ["ARWEAVE_GATEWAYS", "ar://"],
  ["ARWEAVE_GATEWAYS", "https://arweave.net#"],
  ["FETCH_ALLOW_HOSTS", "localhost"],
  ["FETCH_ALLOW_HOSTS", "localhost:99999"],
  ["FETCH_ALLOW_HOSTS", "localhost:0"],
  ["FETCH_ALLOW_HOSTS", "localhost:,b:1x"],
  ["FETCH_ALLOW_HOSTS", "*:80"],
  ["FETCH_ALLOW_HOSTS", "256.1.1.1:80"],
  ["MEDIA_STORE", "disk"],
  ["CRYPTOPUNKS_ADDRESSES", "punks"],
  ["SEAPORT_ADDRESSES", "0xg000000000000000000000000000000000000000"],
  ["INDEXER_HOST", "http://example.org"],
  ["INDEXER_HOST", "x:"],
  ["TESTNET_HOST", "x:0"],
  ["ORDERBOOK_HOST", "x:65536"],
  ["MARKETPLACE_HOST", "x:99999999"],
  ["INDEXER_HOST", "."],
  ["INDEXER_HOST", "nft..example"],
  ["LOG_LEVEL", "loud"],
];

test.for(BAD)(
  "%s=%s is refused in one line that names it, the value and what is accepted",
  ([variable, value, others]) => {
    const read = () => readConfig({ ...others, [variable]: value });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(`${variable} is "${value}". Expected `);
    expect(read).toThrow(/^[^\n]+\.$/);
  },
);

test.each([
  ["RATE_LIMIT", "requests a second, from 1 to 1000000"],
  ["RATE_BURST", "a whole number from 1 to 1000000"],
  ["METADATA_REFRESH_COOLDOWN", "seconds, from 0 to 31536000"],
  ["POLL_INTERVAL", "milliseconds, from 100 to 30000"],
  ["METADATA_CONCURRENCY", "a whole number from 1 to 10000"],
  ["MAINNET_CHAIN_ID", "a chain id in decimal, from 1 to 9007199254740991"],
  ["MAINNET_START_BLOCK", "a whole number from 0 to 9007199254740991"],
  ["TESTNET_END_BLOCK", "a whole number from 0 to 9007199254740991"],
])("%s takes the numbers that its message names, and no other", (variable, accepted) => {
  const [from = 0, to = 0] = [...accepted.matchAll(/\d+/g)].map(Number);
  for (const value of [from, to]) readConfig({ [variable]: String(value) });
  for (const value of [from - 1, to + 1])
    expect(() => readConfig({ [variable]: String(value) })).toThrow(`${variable} is "${value}". Expected ${accepted}.`);
});

test.each(["MAINNET_RPC_URL", "IPFS_GATEWAYS", "ARWEAVE_GATEWAYS", "S3_ENDPOINT"])(
  "%s of another scheme is told which are taken",
  (variable) => {
    expect(() => readConfig({ [variable]: "ftp://host.example" })).toThrow(/ Expected (an )?http or https URL/);
  },
);

test("keys are those that a header can carry", () => {
  const accepted = ["!~", "with a space", "x".repeat(200)];
  expect(readConfig({ API_KEYS: accepted.join(", ") }).apiKeys).toEqual(accepted);
  for (const key of ["schlüssel", "ключ", "😀", "a\tb", "a\nb", "\u007f"])
    expect(() => readConfig({ API_KEYS: `good,${key},good` })).toThrow(
      'API_KEYS is "***". Expected keys of up to 200 printable ASCII characters, comma-separated.',
    );
});

test.each([":50%off@host", ":a@b/c@host", "host/main", "host/1/2"])("no Redis is at redis://%s", (rest) => {
  expect(() => readConfig({ REDIS_URL: `redis://${rest}` })).toThrow(
    /^REDIS_URL is ".+"\. Expected a URL like redis:\/\/:password@host:6379\/0, signs in a password percent-encoded \(%25 for a percent sign\)\.$/,
  );
});

test.each([
  "host",
  "host:6379/",
  "host:6379/15",
  "me:50%25%2F%40@host/1",
  ":a@b@host",
  "[::1]:6379/1",
  "host/1?family=6",
])("a Redis may be at redis://%s", (rest) => {
  expect(readConfig({ REDIS_URL: `redis://${rest}` }).redisUrl).toBe(`redis://${rest}`);
});

test("secrets in a bad value are not repeated", () => {
  expect(() => readConfig({ API_KEYS: `good,${"x".repeat(201)}` })).toThrow(
    'API_KEYS is "***". Expected keys of up to 200 printable ASCII characters, comma-separated.',
  );
  expect(() => readConfig({ MAINNET_RPC_URL: "https://node.example/v2/secret,http://b.test/?key=secret,c" })).toThrow(
    'MAINNET_RPC_URL is "https://node.example/***,http://b.test/***,c".',
  );
  expect(() => readConfig({ DATABASE_URL: "mysql://me:secret@host/x" })).toThrow(
    'DATABASE_URL is "mysql://***@host/***". Expected a URL like postgres://user:password@host:5432/name, signs in a password percent-encoded (%25 for a percent sign), sslmode as disable, require or verify-full, and no other parameters but options, connect_timeout and target_session_attrs.',
  );
  for (const option of [
    "sslmode=prefer",
    "ssl=require",
    "sslmode=require&channel_binding=require",
    "search_path=mine",
    "statement_timeout=1000",
    "application_name=mine",
  ])
    expect(() => readConfig({ DATABASE_URL: `postgres://host/x?${option}` })).toThrow(
      "no other parameters but options, connect_timeout and target_session_attrs.",
    );
  expect(() => readConfig({ DATABASE_URL: "postgres://me:100%secret@host/x" })).toThrow(
    'DATABASE_URL is "postgres://***@host/***".',
  );
});

test.each([
  ["MAINNET_RPC_URL", "wss://eth-mainnet.example/v2/SECRET", "wss://eth-mainnet.example/***"],
  ["MAINNET_RPC_URL", "eth-mainnet.example:8545/v3/SECRET", "eth-mainnet.example:8545/***"],
  ["MAINNET_RPC_URL", "http://ok.example, http://SECRET@node.example,x?SECRET", "http://***@node.example,x?***"],
  ["MAINNET_RPC_URL", "http://a:1/SECRET,ws://[::1]:8546#SECRET", "http://a:1/***,ws://[::1]:8546#***"],
  ["DATABASE_URL", "postgres://u:SEC/RET@host/db", "postgres://***@host/***"],
  ["DATABASE_URL", "postgres://u:p@SEC/RET@host/db", "postgres://***@host/***"],
  ["DATABASE_URL", "postgres://u:1?SECRET@host/db", "postgres://***@host/***"],
  ["DATABASE_URL", "mysql://u:S,EC,R@ET@host:5432", "mysql://***@host:5432"],
  ["DATABASE_URL", "postgres://u:SECRET", "postgres://u***"],
  ["DATABASE_URL", "postgres://u:1SECRET", "postgres://u***"],
  ["DATABASE_URL", "mysql://host?password=SECRET", "mysql://host?***"],
  ["DATABASE_URL", "u:SECRET@host/db", "***@host/***"],
  ["REDIS_URL", ":SECRET@host:6379", "***@host:6379"],
  ["IPFS_GATEWAYS", "https://a.example,https://b.example?token=SECRET", "https://a.example,https://b.example?***"],
  ["INDEXER_HOST", "https://host/SECRET", "https://host/***"],
  ["FETCH_ALLOW_HOSTS", "u:SECRET@host:80/x", "***@host:80/***"],
])("of %s=%s host and port are repeated, and nothing else", (variable, value, shown) => {
  expect(() => readConfig({ [variable]: value })).toThrow(`${variable} is "${shown}". Expected `);
});

test("variables that contradict each other are refused", () => {
  const range = { ...RPC, MAINNET_START_BLOCK: "10", MAINNET_END_BLOCK: "9" };
  expect(() => readConfig(range)).toThrow("MAINNET_END_BLOCK is 9. Expected at least MAINNET_START_BLOCK.");
  expect(() => readConfig({ INDEXER_HOST: "a.test", ORDERBOOK_HOST: "A.test" })).toThrow(
    'ORDERBOOK_HOST is "a.test", as INDEXER_HOST is. Expected a name of its own.',
  );
  expect(() => readConfig({ DATABASE_READ_URL: "postgres://a/b" })).toThrow("DATABASE_URL is not set.");
  expect(() => readConfig({ MEDIA_STORE: "s3", S3_BUCKET: "b" })).toThrow("S3_ENDPOINT is not set.");
});

test("nothing configured is the defaults that the interface names", () => {
  const config = readConfig({});
  expect(config).toMatchObject({
    port: 3000,
    host: "127.0.0.1",
    networks: { mainnet: undefined, testnet: undefined },
    pollIntervalMs: 500,
    keyRegistration: "open",
    rateLimit: 50,
    rateBurst: 100,
    refreshCooldownSeconds: 600,
    metadataConcurrency: 64,
    mediaStore: "file",
    logLevel: "info",
  });
  expect(config.dataDir).toMatch(/\.data$/);
});

test("an empty variable is an unset one", () => {
  const empty = Object.fromEntries(BAD.map(([variable]) => [variable, ""]));
  expect(readConfig(empty)).toEqual(readConfig({}));
});

test("lists are split at commas, addresses are lower case and sorted, blanks are of no account", () => {
  const address = `0x${"Ab".repeat(20)}`;
  const config = readConfig({
    MAINNET_RPC_URL: " http://a:1/key , https://b ",
    MAINNET_CHAIN_ID: " 137 ",
    MAINNET_START_BLOCK: "5",
    MAINNET_END_BLOCK: "5",
    MAINNET_CONTRACTS: `${address}, 0x${"12".repeat(20)},${address.toLowerCase()}`,
    CRYPTOPUNKS_ADDRESSES: `${address},`,
    FETCH_ALLOW_HOSTS: "LocalHost:8080",
  });
  expect(config.networks.mainnet).toEqual({
    rpcUrls: ["http://a:1/key", "https://b"],
    chainId: 137,
    startBlock: 5,
    endBlock: 5,
    contracts: [`0x${"12".repeat(20)}`, address.toLowerCase()],
  });
  expect(config.cryptopunksAddresses).toEqual([address.toLowerCase()]);
  expect(config.fetchAllowHosts).toEqual(["localhost:8080"]);
});

test("a host whose documents may be fetched is named as URLs name it", () => {
  const config = readConfig({ FETCH_ALLOW_HOSTS: "127.1:08080,[0:0::1]:80,bücher.example:443" });
  expect(config.fetchAllowHosts).toEqual(["127.0.0.1:8080", "[::1]:80", "xn--bcher-kva.example:443"]);
});

test("a host name may have a port", () => {
  const { hosts } = readConfig({ INDEXER_HOST: "Nft.example:65535", TESTNET_HOST: "localhost" });
  expect(hosts).toMatchObject({ indexer: "nft.example:65535", testnet: "localhost" });
});

test("a host name is what clients send: without the port of http or https, and without the dot of the DNS root", () => {
  const { hosts } = readConfig({
    INDEXER_HOST: "nft.example:443",
    TESTNET_HOST: "test.nft.example.:80",
    ORDERBOOK_HOST: "o.example.:4430",
    MARKETPLACE_HOST: "m.example.",
  });
  expect(hosts).toEqual({
    indexer: "nft.example",
    testnet: "test.nft.example",
    orderbook: "o.example:4430",
    marketplace: "m.example",
  });
});

test("a burst is at least the requests of a second", () => {
  expect(readConfig({ RATE_LIMIT: "200" }).rateBurst).toBe(200);
});

test.each([
  ["*", "*"],
  ["none", []],
  [`0x${"12".repeat(20)}`, [`0x${"12".repeat(20)}`]],
  ["", undefined],
])("first-generation contracts %j are %j", (text, expected) => {
  const { mainnet } = readConfig({ MAINNET_RPC_URL: "http://a", MAINNET_FIRST_GENERATION_CONTRACTS: text }).networks;
  expect(mainnet!.firstGenerationContracts).toEqual(expected);
});
