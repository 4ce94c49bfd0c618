import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createTestApi, openApi, type TestApi, TEST_KEY } from "../test/api.ts";
import { countWaiting } from "../test/database.ts";
import { APES, seed } from "../test/seed.ts";
import { createKey, revokeKey } from "./key/key.ts";
import { ANSWER_WITHIN_MS } from "./sql/deadline.ts";
import type { Api } from "./server.ts";

let t: TestApi;
let api: Api;
let proxy: Awaited<ReturnType<typeof startProxy>>;
const rejections: unknown[] = [];
const lines: [level: string, message: string, fields?: Record<string, unknown>][] = [];
const note = (reason: unknown) => rejections.push(reason);

beforeAll(async () => {
  process.on("unhandledRejection", note);
  t = await createTestApi();
  await seed(t.sql);
  const url = new URL(t.url);
  proxy = await startProxy(Number(url.port));
  url.port = String(proxy.port);
  // With a comma, as a password may have one: no list of hosts.
  url.search = "?options=-c%20datestyle%3DISO,DMY";
  api = await openApi(url.href, { env: { API_KEYS: TEST_KEY }, log: (...line) => lines.push(line) });
});
afterAll(async () => {
  await api.stop();
  await proxy.stop();
  await t.stop();
  process.off("unhandledRejection", note);
});

/**
 * A proxy before Postgres that can cut or block connections, or swallow what is sent on open ones. `path`: of its Unix
 * socket, without which it listens on a port.
 */
async function startProxy(target: number, path?: string) {
  const sockets = new Set<Socket>();
  const swallowed = new WeakSet<Socket>();
  let isBlocked = false;
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => {});
      from.on("data", (data) => void (isBlocked || swallowed.has(from) || to.write(data)));
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const listen = async (port: number) => {
    server.listen(path === undefined ? { port, host: "127.0.0.1" } : { path });
    await once(server, "listening");
  };
  await listen(0);
  const address = server.address();
  const port = typeof address === "object" ? address!.port : 0;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    goAway: async () => {
      server.close();
      cut();
    },
    comeBack: () => listen(port),
    block: (value: boolean) => {
      isBlocked = value;
      if (!value) cut();
    },
    swallow: () => {
      for (const socket of sockets) swallowed.add(socket);
    },
    stop: async () => {
      server.close();
      cut();
    },
  };
}

const ask = async (path: string, key = TEST_KEY) => {
  const started = performance.now();
  const response = await api.app.request(path, { headers: { "x-api-key": key } });
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    body: await response.json(),
    ms: performance.now() - started,
  };
};

const register = async () => {
  const headers = { "content-type": "application/json" };
  return (await api.app.request("/keys", { method: "POST", headers, body: '{"name":"x"}' })).status;
};

const until = (path: string, status: number) =>
  expect.poll(async () => (await ask(path)).status, { interval: 100 }).toBe(status);

const TOKENS = `/v1/tokens/${APES}`;

test("what a replica cancels is asked again, and 503 where it goes on", async () => {
  const failing = "onchain_mainnet.token_event";
  await t.sql.unsafe(`
    alter table ${failing} rename to kept_event;
    create sequence conflict_count;
    create table conflict (most int);
    insert into conflict values (2);
    create function meets_no_conflict() returns bool language plpgsql as $$
    begin
      if nextval('offchain.conflict_count') > (select most from offchain.conflict) then return true; end if;
      raise 'canceling statement due to conflict with recovery' using errcode = '40001';
    end $$;
    create view ${failing} as select * from onchain_mainnet.kept_event where offchain.meets_no_conflict();
  `);
  const path = `/v1/events/${APES}`;
  expect((await ask(path)).status).toBe(200);
  await t.sql`update conflict set most = 1000000`;
  expect(await ask(path)).toMatchObject({
    status: 503,
    retryAfter: "2",
    body: { type: "api_error", message: "The replica is busy." },
  });
  await t.sql.unsafe(`drop view ${failing}; alter table onchain_mainnet.kept_event rename to token_event`);
});

test("with the database gone requests are told so at once, and it is used again when it is back", async () => {
  expect((await ask(TOKENS)).status).toBe(200);
  for (let round = 0; round < 2; round += 1) {
    await proxy.goAway();
    await sleep(50);
    for (let n = 0; n < 5; n += 1) {
      const answer = await ask(TOKENS);
      expect(answer).toMatchObject({ status: 503, retryAfter: "2", body: { type: "api_error" } });
      expect(answer.ms).toBeLessThan(ANSWER_WITHIN_MS);
      await sleep(300);
    }
    expect((await ask("/v1/contracts", "nft_never_seen")).status).toBe(503);
    expect((await ask("/health")).status).toBe(200);
    expect((await ask("/ready")).status).toBe(503);
    expect(await ask("/status")).toMatchObject({
      status: 200,
      body: { networks: { mainnet: { state: "stalled", reason: "The database is unreachable." } } },
    });
    expect((await ask("/v1/contracts?limit=0")).status).toBe(400);
    // Keys that nobody got aren't counted. These are more than an address gets in an hour.
    for (let n = 0; n < 25; n += 1) expect(await register()).toBe(503);

    await proxy.comeBack();
    await until(TOKENS, 200);
    await until("/ready", 200);
    // As the indexer does each second: a report that is too old says that it is gone.
    await t.sql`update network set reported_at = now()`;
    await expect
      .poll(async () => (await ask("/status")).body)
      .toMatchObject({ networks: { mainnet: { state: "live" } } });
  }
  expect(await register()).toBe(201);
});

test("a Unix socket that is gone, as while the embedded Postgres starts anew, is a database out of reach", async () => {
  const directory = await mkdtemp(join(tmpdir(), "nft-index-socket-"));
  const own = await startProxy(Number(new URL(t.url).port), join(directory, ".s.PGSQL.5432"));
  const { username, password, pathname } = new URL(t.url);
  const url = `postgres://${username}:${password}@${encodeURIComponent(directory)}:5432${pathname}`;
  const local = await openApi(url, { env: { API_KEYS: TEST_KEY } });
  try {
    const status = async (key: string) => (await local.app.request(TOKENS, { headers: { "x-api-key": key } })).status;
    expect(await status(TEST_KEY)).toBe(200);
    await own.goAway();
    // Until it is noticed, and after that.
    const statuses = new Set<number>();
    for (let n = 0; n < 15; n += 1) {
      statuses.add(await status(`nft_unseen_${n}`)).add(await status(TEST_KEY));
      await sleep(100);
    }
    expect([...statuses]).toEqual([503]);
    await own.comeBack();
    await expect.poll(() => status(TEST_KEY)).toBe(200);
  } finally {
    await local.stop();
    await own.stop();
    await rm(directory, { recursive: true });
  }
});

test("with a database that hangs requests end, and the process stays well", async () => {
  proxy.block(true);
  const waiting = Array.from({ length: 60 }, () => ask(TOKENS));
  await sleep(100);
  const health = ask("/health").then(({ status }) => status);
  expect(await Promise.race([health, Promise.race(waiting).then(() => "answered later")])).toBe(200);
  for (const answer of await Promise.all(waiting)) {
    expect([answer.status, answer.retryAfter]).toEqual([503, "2"]);
    // One wait for the budget's store and one for the database take less; a second wait for the database doesn't.
    expect(answer.ms).toBeLessThan(2 * 6000);
  }
  // Requests no longer wait: five of them are refused in less time than one may wait.
  const started = performance.now();
  for (let n = 0; n < 5; n += 1) expect((await ask(TOKENS)).status).toBe(503);
  expect(performance.now() - started).toBeLessThan(ANSWER_WITHIN_MS);
  proxy.block(false);
  await until(TOKENS, 200);
});

test("keys that a replica has are taken while the primary is gone or hangs, and others are told to come again", async () => {
  const replica = await createTestApi();
  onTestFinished(replica.stop);
  await seed(replica.sql);
  const { key: known } = await createKey(replica.sql, { name: "known" });
  const { key: revoked } = await createKey(replica.sql, { name: "revoked, which the replica knows" });
  const { key: late, prefix } = await createKey(replica.sql, { name: "revoked, which it doesn't know yet" });
  await revokeKey(replica.sql, { named: revoked });
  for (const row of await replica.sql`select key_hash, prefix, name, revoked_at from offchain.api_key`)
    await t.sql`insert into offchain.api_key ${t.sql(row)}`;
  await t.sql`update offchain.api_key set revoked_at = now() - interval '2 minutes' where prefix = ${prefix}`;
  const url = new URL(t.url);
  url.port = String(proxy.port);
  for (const [leave, comeBack] of [
    [proxy.goAway, proxy.comeBack],
    [() => proxy.block(true), () => proxy.block(false)],
  ] as const) {
    // New each time: what it has seen before isn't asked for.
    const other = await openApi(url.href, { readUrl: replica.url });
    onTestFinished(other.stop);
    const use = async (key: string) => (await other.app.request(TOKENS, { headers: { "x-api-key": key } })).status;
    const useAll = () => Promise.all([known, revoked, "nft_never_seen", late].map(use));
    await leave();
    expect(await useAll()).toEqual([200, 503, 503, 200]);
    await comeBack();
    await expect.poll(useAll, { timeout: 5000 }).toEqual([200, 401, 401, 401]);
  }
  await until(TOKENS, 200);
});

test("connections that the network swallows are replaced, also those that were idle", async () => {
  const all = () => Promise.all(Array.from({ length: 60 }, (_, n) => ask(`${TOKENS}?limit=${n + 1}`)));
  expect((await all()).every(({ status }) => status === 200)).toBe(true);
  proxy.swallow();
  for (const answer of await all()) {
    expect([answer.status, answer.retryAfter]).toEqual([503, "2"]);
  }
  await until(TOKENS, 200);
  expect((await all()).every(({ status }) => status === 200)).toBe(true);
  expect((await ask("/v1/contracts", "nft_never_seen")).status).toBe(401);
});

test("what everybody asks for at once is read twice, however many ask, and is as fresh as if each had read it", async () => {
  for (const path of [TOKENS, `/orderbook/tokens/collection/${APES}`]) {
    const before = await t.get(path);
    const answers = await t.sql.begin(async (sql) => {
      await sql`lock table onchain_mainnet.token in access exclusive mode`;
      const asked = Array.from({ length: 30 }, () => t.get(path));
      await expect.poll(() => countWaiting(t.sql)).toBe(2);
      const other = t.get(`${TOKENS}?limit=1`);
      await expect.poll(() => countWaiting(t.sql)).toBe(3);
      await sql`update onchain_mainnet.token set owner = substring(sha256(owner), 1, 20) where owner is not null`;
      return () => Promise.all([...asked, other]);
    });
    const shared = (await answers()).slice(0, -1);
    const after = await t.get(path);
    expect(after.body).not.toEqual(before.body);
    for (const { status, body } of shared) expect([status, body]).toEqual([200, after.body]);
  }
});

test("a statement is bounded in time", async () => {
  await t.sql.begin(async (sql) => {
    await sql`lock table onchain_mainnet.token in access exclusive mode`;
    // Postgres ended the statement, not only the wait for it: the connection is free again.
    expect(await ask(TOKENS)).toMatchObject({
      status: 503,
      retryAfter: "2",
      body: { message: "The query took too long." },
    });
    expect((await ask("/v1/contracts")).status).toBe(200);
  });
  expect((await ask(TOKENS)).status).toBe(200);
});

test("missing tables are 503 and the test network without a report is 404", async () => {
  await t.sql`alter schema onchain_mainnet rename to onchain_away`;
  expect((await ask(TOKENS)).status).toBe(503);
  await t.sql`alter schema onchain_away rename to onchain_mainnet`;
  // The monitor may have looked while the tables were missing.
  await api.refresh();
  expect((await ask(TOKENS)).status).toBe(200);
  await t.sql`delete from offchain.network where name = 'testnet'`;
  await api.refresh();
  for (const key of [TEST_KEY, "none"]) {
    const answer = await ask("/testnet/v1/contracts", key);
    expect(answer).toMatchObject({ status: 404, body: { type: "invalid_request" } });
  }
  await t.sql`delete from offchain.network`;
  await api.refresh();
  expect((await ask(TOKENS)).status).toBe(503);
  expect((await ask("/ready")).status).toBe(503);
});

test("an indexer that says nothing is shown as stalled", async () => {
  await t.sql`insert into offchain.network (name, chain_id, state, reported_at) values ('mainnet', 1, 'live', now() - interval '1 minute')`;
  await api.refresh();
  const { body } = await ask("/status");
  expect(body).toMatchObject({
    networks: { mainnet: { state: "stalled", reason: expect.stringContaining("has not reported for") as string } },
  });
  expect((await ask(TOKENS)).status).toBe(200);
});

test("why the database refuses requests while it can be reached is logged, once a minute", async () => {
  await t.sql.unsafe(`
    create function full_disk() returns trigger language plpgsql as $$
      begin
        raise exception 'No space left on device' using errcode = 'disk_full';
      end
    $$;
    create trigger full_disk before insert on offchain.api_key execute function full_disk();
  `);
  lines.length = 0;
  expect([await register(), await register()]).toEqual([503, 503]);
  await t.sql`drop trigger full_disk on offchain.api_key`;
  const warnings = lines.filter(([level]) => level !== "info");
  expect(warnings).toMatchObject([
    ["warn", "the database refuses requests", { error: "No space left on device", code: "53100" }],
  ]);
});

test("nothing was left unhandled", () => {
  expect(rejections).toEqual([]);
});
