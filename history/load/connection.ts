import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Sql } from "postgres";
import { createPool } from "../../pool.ts";

type Address = { host: string[]; port: number[]; path?: string | false };

/**
 * Rows are found by their keys. Of tables that nobody has analyzed yet the planner read all for each chunk of keys: 2.7 s
 * in a load of 111,000 orders, more with each chunk, and 1.1 s so.
 */
const BY_KEY = { enable_seqscan: "off", enable_hashjoin: "off", enable_mergejoin: "off" };

/** Connections for loading: many COPYs, and what is committed last may be lost in a crash of the server. */
export function connectForLoading(databaseUrl: string, { name }: { name: string }): Sql {
  return createPool(databaseUrl, {
    max: 6,
    // A query of each new connection, whose failure nobody could catch: it would hide why the load has ended.
    fetch_types: false,
    socket: openSocket,
    connection: { application_name: name, synchronous_commit: "off", ...BY_KEY },
  });
}

/** A COPY ends with a short message that would wait 40 ms for the server to acknowledge the one before. */
async function openSocket({ host, port, path }: Address): Promise<Socket> {
  const socket = connect(path ? { path } : { host: host[0], port: port[0]!, noDelay: true });
  await once(socket, "connect");
  // Where it is encrypted, the driver asks for this name.
  return Object.assign(socket, { host: host[0] });
}
