/** Variables that are secrets from the first sign to the last. */
const SECRETS = new Set(["API_KEYS", "S3_SECRET_ACCESS_KEY"]);
/** No URLs, though with slashes and colons like them; unless one was put there all the same. */
const SLASHED = new Set([
  "DATA_DIR",
  "TRUSTED_PROXIES",
  "FETCH_ALLOW_HOSTS",
  "INDEXER_HOST",
  "TESTNET_HOST",
  "ORDERBOOK_HOST",
  "MARKETPLACE_HOST",
]);
const URL_SIGNS = /@|:\/\//;

/**
 * What of a variable's value may be in an error message, which ends up in logs. Of a URL that is its host and port: what
 * is before them is a password, what is behind them often a key.
 */
export function withoutSecrets(name: string, value: string): string {
  if (SECRETS.has(name)) return "***";
  if (SLASHED.has(name) && !URL_SIGNS.test(value)) return value;
  // Up to the last @ of all: a password that isn't encoded may hold anything.
  const named = value.replace(/^([a-z][a-z\d+.-]*:\/\/)?.*@/is, "$1***@");
  return named.split(",").map(withoutPath).join(",");
}

/** A URL up to its port. It may lack the scheme. */
function withoutPath(url: string): string {
  const [shown] = /^\s*([a-z][a-z\d+.-]*:\/\/)?(\*{3}@)?(\[[^\]]*\]|[^:/?#]*)(:\d+(?![^/?#]))?[/?#]?/i.exec(url)!;
  return shown === url ? url : `${shown}***`;
}
