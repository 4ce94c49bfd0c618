import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect, createServer, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Sql } from "postgres";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openDatabases } from "./api/sql/database.ts";
import { connectForLoading } from "./history/load/connection.ts";
import { ponderDatabaseUrl } from "./indexer/ponder-database.ts";
import { createPool } from "./pool.ts";

type Client = { connect: () => Promise<void>; query: (text: string) => Promise<unknown>; end: () => Promise<void> };
const { Client } = createRequire(import.meta.resolve("ponder"))("pg") as {
  Client: new (options: { connectionString: string }) => Client;
};

const LENGTH_OF_ENCRYPTION_REQUEST = 8;
const sockets = new Set<Socket>();
const names: (string | false | null)[] = [];
/** Encryption before the Postgres of the tests, with a certificate for localhost that nobody knows. */
const server = createServer((socket) => void encrypt(socket));
let url: URL;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = new URL(inject("postgresUrl"));
  url.hostname = "localhost";
  url.port = String((server.address() as { port: number }).port);
});
afterAll(() => {
  server.close();
  for (const socket of sockets) socket.destroy();
});

async function encrypt(socket: Socket): Promise<void> {
  sockets.add(socket.on("error", () => {}));
  while (socket.read(LENGTH_OF_ENCRYPTION_REQUEST) === null) await once(socket, "readable");
  socket.write("S");
  const [key, cert] = ["key", "certificate"].map((name) => readFileSync(`test/tls/${name}.pem`));
  const plain = new TLSSocket(socket, { isServer: true, key, cert }).on("error", () => {});
  await once(plain, "secure");
  names.push(plain.servername);
  const { hostname: host, port } = new URL(inject("postgresUrl"));
  const postgres = connect({ host, port: Number(port) }).on("error", () => {});
  sockets.add(postgres);
  plain.pipe(postgres).pipe(plain);
}

const ask = async (sql: Sql) => {
  try {
    await sql`select 1`;
    return "connected";
  } catch (error) {
    return (error as { code?: string }).code;
  } finally {
    await sql.end({ timeout: 1 });
  }
};
const askByPonder = async (connectionString: string) => {
  const client = new Client({ connectionString: ponderDatabaseUrl(connectionString) });
  try {
    await client.connect();
    await client.query("select 1");
    await client.end();
    return "connected";
  } catch (error) {
    return (error as { code?: string }).code;
  }
};
const askByApi = async (connectionString: string) => {
  const databases = openDatabases({ url: connectionString, readUrl: connectionString });
  const answer = await ask(databases.monitor);
  await databases.end();
  return answer;
};

test.each([
  ["require", "connected"],
  ["verify-full", "DEPTH_ZERO_SELF_SIGNED_CERT"],
])("sslmode=%s means the same to all parts", async (mode, expected) => {
  url.searchParams.set("sslmode", mode);
  names.length = 0;
  expect({
    pool: await ask(createPool(url.href, { max: 1 })),
    load: await ask(connectForLoading(url.href, { name: "load" })),
    api: await askByApi(url.href),
    ponder: await askByPonder(url.href),
  }).toEqual({ pool: expected, load: expected, api: expected, ponder: expected });
  // Which of several databases at one address is meant, and what a certificate has to be for.
  expect(names).toEqual(expected === "connected" ? Array(4).fill("localhost") : []);
});

test("other URLs are left as they are", () => {
  for (const text of ["postgres://a:b@%2Frun%2Fpostgresql/c", "postgres://a,b/c?sslmode=verify-full", "postgres://a/b"])
    expect(ponderDatabaseUrl(text)).toBe(text);
});
