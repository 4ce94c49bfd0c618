import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Sql } from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPool } from "./pool.ts";
import { createEmptyDatabase, type TestDatabase } from "../test/database.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

/** A pool of one connection, and the sockets that it had, the newest last. */
function openPool() {
  const sockets: Socket[] = [];
  const socket = ({ host, port }: { host: string[]; port: number[] }) => {
    sockets.push(connect(port[0]!, host[0]));
    return sockets.at(-1);
  };
  return { sql: createPool(database.url, { max: 1, backoff: () => 0.01, socket }), sockets };
}

async function lose(socket: Socket): Promise<void> {
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.destroy();
  await closed;
}
const LOST = { code: "CONNECTION_CLOSED" };

test("statements of a transaction that lost its connection are refused, also once the pool has a new one", async () => {
  const { sql, sockets } = openPool();
  await sql`create table written (place text)`;
  const refused: unknown[] = [];
  const ended = Promise.withResolvers<void>();
  const transaction = sql.begin(async (tx) => {
    const write = async (place: string) => {
      const problem: unknown = await tx`insert into written values (${place})`.then(
        () => `${place} is written`,
        (error: unknown) => error,
      );
      refused.push(problem);
    };
    await tx`insert into written values ('before')`;
    const underWay = [write("under way"), write("waiting")];
    await lose(sockets[0]!);
    await Promise.all([...underWay, write("without a connection")]);
    await sql`insert into written values ('of another')`;
    await write("with a connection of others");
    ended.resolve();
  });
  await expect(transaction).rejects.toMatchObject(LOST);
  await ended.promise;
  expect(refused).toMatchObject([LOST, LOST, LOST, LOST]);
  expect(sockets).toHaveLength(2);
  expect(await sql`select place from written`).toEqual([{ place: "of another" }]);
  await sql.end();
});

test.each([
  ["by Postgres", (admin: Sql, pid: number) => admin`select pg_terminate_backend(${pid})`],
  ["here", (_admin: Sql, _pid: number, socket: Socket) => socket.resetAndDestroy()],
  [
    "by the network",
    (_admin: Sql, _pid: number, socket: Socket) =>
      socket.destroy(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" })),
  ],
])(
  "a transaction whose connection is cut %s in the midst of a statement ends, and the pool connects anew",
  async (_, cut) => {
    const { sql, sockets } = openPool();
    const { sql: admin } = openPool();
    const begun = Promise.withResolvers<number>();
    const transaction = sql.begin(async (tx) => {
      const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
      begun.resolve(row!.pid);
      await tx`select pg_sleep(600)`;
    });
    transaction.catch(() => {});
    const pid = await begun.promise;
    const isAsleep = () => admin`select from pg_stat_activity where pid = ${pid} and wait_event = 'PgSleep'`;
    await expect.poll(isAsleep).toHaveLength(1);
    await cut(admin, pid, sockets[0]!);
    await expect(transaction).rejects.toMatchObject({
      code: expect.stringMatching(/^(CONNECTION_CLOSED|ECONNRESET)$/) as string,
    });
    for (const n of [1, 2]) expect(await sql`select ${n}::int as n`).toEqual([{ n }]);
    await sql.begin((tx) => tx`select 3`);
    await Promise.all([sql.end(), admin.end()]);
  },
);

test("a COPY that fails, or loses its connection, when all was sent ends so", async () => {
  const [{ sql, sockets }, { sql: admin }] = [openPool(), openPool()];
  await admin.unsafe(`
    create table copied (number integer);
    create function wait_or_fail() returns trigger language plpgsql as $$ begin
      if exists (select from copied where number = 1) then raise exception 'No ones'; end if;
      perform pg_sleep(600);
      return null;
    end $$;
    create trigger wait_or_fail after insert on copied for each statement execute function wait_or_fail()
  `);
  const copy = async (text: string) => {
    const stream = await sql`copy copied from stdin`.writable();
    const ended = once(stream, "finish");
    stream.end(text);
    return ended;
  };
  await expect(copy("1\n")).rejects.toThrow("No ones");
  const copied = copy("2\n");
  copied.catch(() => {});
  const sleepers = admin`
    from pg_stat_activity
    where datname = current_database()
      and wait_event = 'PgSleep'
      and query like 'copy%'
  `;
  const isAsleep = () => admin`select ${sleepers}`;
  await expect.poll(isAsleep).toHaveLength(1);
  await lose(sockets[0]!);
  await expect(copied).rejects.toMatchObject(LOST);
  expect(await sql`select 3 as three`).toEqual([{ three: 3 }]);
  await admin`select pg_terminate_backend(pid) ${sleepers}`;
  await Promise.all([sql.end(), admin.end()]);
});

test("a reserved connection that was lost refuses statements, and is given back only once it was made anew", async () => {
  const { sql, sockets } = openPool();
  const reserved = await sql.reserve();
  await reserved`select 1`;
  await lose(sockets[0]!);
  for (const n of [1, 2]) await expect(reserved`select ${n}`).rejects.toMatchObject(LOST);
  reserved.release();
  expect(await sql`select 2 as two`).toEqual([{ two: 2 }]);
  await expect(reserved`select 3`).rejects.toMatchObject(LOST);
  expect(sockets).toHaveLength(2);
  const again = await sql.reserve();
  expect(await again`select 4 as four`).toEqual([{ four: 4 }]);
  again.release();
  await sql.end();
});

test("a connection is reserved that is yet to be opened", async () => {
  for (const fetch_types of [true, false]) {
    const sql = createPool(database.url, { max: 1, fetch_types });
    const reserved = await sql.reserve();
    expect(await reserved`select 1 as one`).toEqual([{ one: 1 }]);
    reserved.release();
    await sql.end();
  }
});

test("whoever waits for a connection that is lost while it is opened is refused", async () => {
  let lost = 0;
  const outcomes = [];
  // At each message of the server, of which it sends some before the connection is open: the last attempts go well.
  for (let messages = 1; messages <= 8; messages += 1) {
    const socket = ({ host, port }: { host: string[]; port: number[] }) => {
      const opened = connect(port[0]!, host[0]);
      let count = 0;
      opened.prependListener("data", () => {
        if (++count === messages) void lose(opened).then(() => lost++);
      });
      return opened;
    };
    const sql = createPool(database.url, { max: 1, backoff: () => 0.01, socket });
    for (const asked of [sql.reserve().then((reserved) => reserved.release()), sql`select 1`])
      outcomes.push(
        await asked.then(
          () => "done",
          ({ code }: { code: string }) => code,
        ),
      );
    await sql.end({ timeout: 0 });
  }
  expect(lost).toBeGreaterThan(1);
  expect(new Set(outcomes)).toEqual(new Set(["done", LOST.code]));
});

test("a statement that wasn't sent when its connection was lost keeps none that follow from being sent", async () => {
  const { sql, sockets } = openPool();
  await sql`select 1`;
  // Of two connections that are lost together, the end of the first has a statement begun on the second.
  const first = connect(sockets[0]!.remotePort!, sockets[0]!.remoteAddress);
  await new Promise((resolve) => first.once("connect", resolve));
  const statement = new Promise((resolve, reject) => {
    first.once("close", () => void sql`select 2`.then(resolve, reject));
  });
  // What is destroyed last is closed first.
  sockets[0]!.destroy();
  first.destroy();
  await expect(statement).rejects.toMatchObject(LOST);
  expect(await sql`select 3 as three`).toEqual([{ three: 3 }]);
  await sql.end();
});

test("a statement is refused where whoever listens closes the connection before it is a session", async () => {
  let connections = 0;
  // As a proxy does whose Postgres is down.
  const server = createServer((socket) => {
    connections++;
    socket.on("error", () => {}).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const sql = createPool(`postgres://nobody@127.0.0.1:${port}/none`, { max: 1 });
  const asked = [sql`select 1`, sql.begin((tx) => tx`select 2`), sql.reserve()];
  expect(await Promise.allSettled(asked)).toMatchObject(asked.map(() => ({ status: "rejected", reason: LOST })));
  expect(connections).toBeLessThan(10);
  await sql.end();
  server.close();
});
