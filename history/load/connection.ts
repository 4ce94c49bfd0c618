import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Sql } from "postgres";
import { createPool } from "../../postgres/pool.ts";

type Address = { host: string[]; port: number[]; path?: string | false };

/**
 * Settings that make the planner find rows by their keys. Without them it read a whole table for each chunk of keys,
 * because the tables aren't analyzed yet: 2.7 s in a load of 111,000 orders, growing with each chunk, instead of 1.1 s.
 */
const BY_KEY = { enable_seqscan: "off", enable_hashjoin: "off", enable_mergejoin: "off" };

/** Connections for loading by many COPYs. If the server crashes, the last commits may be lost. */
export function connectForLoading(databaseUrl: string, { name }: { name: string }): Sql {
  return createPool(databaseUrl, {
    max: 6,
    // Otherwise each new connection begins with a query about arrays, which no statement here returns.
    fetch_types: false,
    socket: openSocket,
    connection: { application_name: name, synchronous_commit: "off", ...BY_KEY },
  });
}

/** Sets TCP_NODELAY: else the short message that ends a COPY waits 40 ms for the acknowledgement of the one before. */
async function openSocket({ host, port, path }: Address): Promise<Socket> {
  const socket = connect(path ? { path } : { host: host[0], port: port[0]!, noDelay: true });
  await once(socket, "connect");
  // The driver reads this host name for an encrypted connection.
  return Object.assign(socket, { host: host[0] });
}
