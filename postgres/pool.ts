import type { Sql } from "postgres";
import { postgres } from "./driver.ts";
import { DEFAULTS, KEEPALIVE, UNBOUNDED } from "./session.ts";

/**
 * The pause before a connection is tried again, in seconds. The driver's own grows to 20, and what is asked waits for it:
 * a worker went on so long after Postgres did, and ended so long after it was told to.
 */
const RECONNECT_SECONDS = 0.25;

/**
 * A pool for a URL like that of DATABASE_URL, which prints no notices. As in libpq the host may be the folder of a
 * Unix socket, `postgres://user@%2Frun%2Fpostgresql/name`, which takes a fifth off what a short query costs.
 */
export function createPool(url: string, options: PoolOptions = {}): Sql {
  const connection = { ...KEEPALIVE, ...DEFAULTS, ...UNBOUNDED, ...options.connection };
  const defaults = { onnotice: () => {}, backoff: () => RECONNECT_SECONDS };
  return postgres(url, { ...defaults, ...decodedParts(url), ...options, connection } as Parameters<typeof postgres>[1]);
}

/** Does `work` on a connection of its own, which is closed afterwards. */
export async function withConnection<T>(
  url: string,
  work: (sql: Sql) => Promise<T>,
  options: PoolOptions = {},
): Promise<T> {
  const sql = createPool(url, { max: 1, ...options });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** The URL of another database of the same server, whatever its name. */
export function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

/** `socket`: the driver takes it, but its types don't know it. */
type PoolOptions = Parameters<typeof postgres>[1] & { socket?: unknown };

/** The parts of a URL that our driver, other than Ponder's, doesn't read right by itself. */
function decodedParts(url: string): Record<string, unknown> {
  // Several hosts, which the driver takes, are no valid URL.
  const { hostname = "", pathname = "", port = "" } = URL.parse(url) ?? {};
  const database = decodeURIComponent(pathname.slice(1));
  return {
    ...(/^%2f/i.test(hostname) && { host: decodeURIComponent(hostname) }),
    // It cuts a host off at its first colon, but not those of a list.
    ...(hostname.startsWith("[") && { host: [hostname.slice(1, -1)], port: [Number(port || 5432)] }),
    ...(database !== "" && { database }),
  };
}
