import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect, createServer, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import {
  createSecureContext,
  getCACertificates,
  setDefaultCACertificates,
  TLSSocket,
  type TLSSocketOptions,
} from "node:tls";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { openDatabases } from "../api/sql/database.ts";
import { readConfig } from "../config.ts";
import { connectForLoading } from "../history/load/connection.ts";
import { findFreePort } from "../indexer/free-port.ts";
import { ponderDatabaseUrl } from "../indexer/ponder/ponder-database.ts";
import { migrate } from "../offchain/migrate.ts";
import { createPool, withDatabase } from "./pool.ts";
import { createEmptyDatabase } from "../test/database.ts";

type Client = { connect: () => Promise<void>; query: (text: string) => Promise<unknown>; end: () => Promise<void> };
const { Client } = createRequire(import.meta.resolve("ponder"))("pg") as {
  Client: new (options: { connectionString: string }) => Client;
};

const LENGTH_OF_ENCRYPTION_REQUEST = 8;
const sockets = new Set<Socket>();
const names: (string | false | null)[] = [];
/** Encryption before the Postgres of the tests, with a certificate for what it is asked as, and that nobody knows. */
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
  const [key, cert, ofName] = ["key", "address", "certificate"].map((name) => readFileSync(`test/tls/${name}.pem`));
  const SNICallback: TLSSocketOptions["SNICallback"] = (_, answer) =>
    answer(null, createSecureContext({ key, cert: ofName }));
  const plain = new TLSSocket(socket, { isServer: true, key, cert, SNICallback }).on("error", () => {});
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
  // As its process reads it.
  const { databaseUrl } = readConfig({ DATABASE_URL: ponderDatabaseUrl(connectionString) });
  const client = new Client({ connectionString: databaseUrl! });
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
/** What each part of ours says of a database. */
const askByAll = async (href: string) => ({
  pool: await ask(createPool(href, { max: 1 })),
  load: await ask(connectForLoading(href, { name: "load" })),
  api: await askByApi(href),
  ponder: await askByPonder(href),
});
const all = (answer: string) => ({ pool: answer, load: answer, api: answer, ponder: answer });

test.each([
  ["require", "connected"],
  ["verify-full", "DEPTH_ZERO_SELF_SIGNED_CERT"],
])("sslmode=%s means the same to all parts", async (mode, expected) => {
  url.searchParams.set("sslmode", mode);
  names.length = 0;
  expect(await askByAll(url.href)).toEqual(all(expected));
  // Which of several databases at one address is meant, and what a certificate has to be for.
  expect(names).toEqual(expected === "connected" ? Array(4).fill("localhost") : []);
});

test("sslmode=verify-full takes a certificate for an address by that address", async () => {
  const known = getCACertificates();
  setDefaultCACertificates([readFileSync("test/tls/address.pem", "utf8")]);
  const own = new URL(url);
  own.hostname = "127.0.0.1";
  own.searchParams.set("sslmode", "verify-full");
  try {
    expect(await askByAll(own.href)).toEqual(all("connected"));
  } finally {
    setDefaultCACertificates(known);
  }
});

test("a database may have any name", async () => {
  const admin = createPool(inject("postgresUrl"), { max: 1 });
  const suffix = randomBytes(4).toString("hex");
  const nameIn = async (sql: Sql) => {
    const [row] = await sql<{ name: string }[]>`select current_database() as name`;
    await sql.end({ timeout: 1 });
    return row?.name;
  };
  for (const name of [`odd é 100% ${suffix}`, `odd ?#/%2F&@" ${suffix}`]) {
    await admin`create database ${admin(name)}`;
    const url = withDatabase(inject("postgresUrl"), name);
    try {
      expect(await nameIn(createPool(url, { max: 1 }))).toBe(name);
      expect(await nameIn(connectForLoading(url, { name: "load" }))).toBe(name);
      expect(await askByApi(url)).toBe("connected");
    } finally {
      await admin`drop database ${admin(name)} with (force)`;
    }
  }
  await admin.end();
});

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === "::1"),
);

test.skipIf(!hasIpv6)("an IPv6 address is one", async () => {
  const { hostname: host, port } = new URL(inject("postgresUrl"));
  const relay = createServer((socket) => {
    const postgres = connect({ host, port: Number(port) }).on("error", () => {});
    for (const one of [socket.on("error", () => {}), postgres]) sockets.add(one);
    socket.pipe(postgres).pipe(socket);
  });
  await once(relay.listen(0, "::1"), "listening");
  const own = new URL(inject("postgresUrl"));
  own.hostname = "[::1]";
  own.port = String((relay.address() as { port: number }).port);
  expect(await askByAll(own.href)).toEqual(all("connected"));
  relay.close();
});

test("what a role has set otherwise counts for none of our sessions", async () => {
  const database = await createEmptyDatabase();
  const role = `odd_${randomBytes(4).toString("hex")}`;
  const admin = createPool(database.url, { max: 1 });
  const settings = [
    "default_transaction_isolation = 'repeatable read'",
    "search_path = public, pg_temp",
    "datestyle = 'SQL, DMY'",
    "bytea_output = 'escape'",
    "extra_float_digits = 0",
    "array_nulls = off",
    "standard_conforming_strings = off",
    "statement_timeout = 100",
    "lock_timeout = 100",
    "idle_in_transaction_session_timeout = 100",
    "idle_session_timeout = 100",
  ];
  await admin.unsafe(`create role ${role} login password 'odd'`);
  for (const setting of settings) await admin.unsafe(`alter role ${role} set ${setting}`);
  await admin.unsafe(`grant all on database ${new URL(database.url).pathname.slice(1)} to ${role}`);
  const own = new URL(database.url);
  [own.username, own.password] = [role, "odd"];
  const sql = createPool(own.href, { max: 1 });
  await migrate(sql);
  const [row] = await sql<Record<string, unknown>[]>`
    select
      current_setting('transaction_isolation') as isolation,
      timestamptz '2026-02-03 04:05:06Z' as time,
      '\\x0aff'::bytea as bytes,
      0.1::float8 + 0.2::float8 as number,
      (${[null]}::text[])[1] as text,
      pg_sleep(0.2)::text as slept
  `;
  expect(row).toEqual({
    isolation: "read committed",
    time: new Date("2026-02-03T04:05:06Z"),
    bytes: Buffer.from([0x0a, 0xff]),
    number: 0.1 + 0.2,
    text: null,
    slept: "",
  });
  await sql.begin(async (tx) => {
    await sleep(200);
    await tx`select`;
  });
  const readSession = () => sql`select pg_backend_pid() as session`.then(([found]) => found);
  const session = await readSession();
  await sleep(200);
  expect(await readSession()).toEqual(session);
  await sql.end();
  await admin.unsafe(`drop owned by ${role}; drop role ${role}`);
  await admin.end();
  await database.drop();
});

test("other URLs are left as they are", () => {
  for (const text of ["postgres://a:b@%2Frun%2Fpostgresql/c", "postgres://a,b/c?sslmode=verify-full", "postgres://a/b"])
    expect(ponderDatabaseUrl(text)).toBe(text);
});

test("a Postgres that is back is found within a second, however often it was looked for", async () => {
  const sql = createPool(`postgres://postgres@127.0.0.1:${await findFreePort()}/postgres`, { max: 16 });
  const timers = vi.spyOn(globalThis, "setTimeout");
  try {
    for (let round = 0; round < 2; round++) {
      const asked = Array.from({ length: 16 }, () => sql`select`.catch(({ code }: { code: string }) => code));
      expect(new Set(await Promise.all(asked))).toEqual(new Set(["ECONNREFUSED"]));
    }
    // The driver's name for it.
    const pauses = timers.mock.calls.flatMap(([what, pause]) => (what.name === "connect" ? [pause!] : []));
    expect(pauses).toHaveLength(32);
    expect(Math.max(...pauses)).toBeLessThan(1000);
  } finally {
    timers.mockRestore();
    await sql.end();
  }
});
