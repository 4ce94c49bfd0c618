import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addressOf, type Body, createTestApi, inserter, type Row, type TestApi, TEST_KEY } from "../../test/api.ts";
import { type Listener, listen } from "../listen.ts";

const CONTRACT = addressOf(0xc0);
const OWNER = addressOf(0xaa);
const TOKENS = 120;
const nameOf = (id: number) => `Token ${id} ${"é".repeat(900)}`;

let t: TestApi;
let listener: Listener;

beforeAll(async () => {
  t = await createTestApi();
  const rows = inserter(t.sql);
  await rows.contract(CONTRACT);
  for (let id = 1; id <= TOKENS; id += 1) {
    await rows.token(CONTRACT, id, { owner: OWNER });
    await rows.tokenMetadata(CONTRACT, id, { raw: nameOf(id), normalized: JSON.stringify({ name: nameOf(id) }) });
  }
  listener = await listen(t.api, { host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await listener.close();
  await t.stop();
});

/** Asks for a page of tokens, and checks that each is the next token with its own documents. */
async function checkPage(n: number): Promise<void> {
  const first = 1 + (n % 60);
  const limit = 1 + (n % 50);
  const ids = Array.from({ length: limit }, (_, place) => first + place);
  const query = ids.map((id) => `tokens_ids=${id}`).join("&");
  const response = await fetch(`${listener.url}/v1/tokens/${CONTRACT}?${query}`, {
    headers: { "x-api-key": TEST_KEY, "accept-encoding": n % 3 ? "identity" : "gzip" },
  });
  const { result } = (await response.json()) as Body;
  const seen = result.map(({ token_id, metadata }) => [token_id, (metadata as Row).raw, (metadata as Row).normalized]);
  expect(seen).toEqual(ids.map((id) => [String(id), nameOf(id), { name: nameOf(id) }]));
}

/** Asks for the largest page like a client that has it already. */
async function checkUnchanged(): Promise<void> {
  const headers = { "x-api-key": TEST_KEY, "if-none-match": "*" };
  expect((await fetch(`${listener.url}/v1/tokens/${CONTRACT}?limit=250`, { headers })).status).toBe(304);
}

/** Asks for the largest page, and closes the connection as soon as the answer begins. */
async function leaveEarly(): Promise<void> {
  const socket = connect(Number(new URL(listener.url).port), "127.0.0.1");
  socket.write(`GET /v1/tokens/${CONTRACT}?limit=250 HTTP/1.1\r\nHost: a\r\nx-api-key: ${TEST_KEY}\r\n\r\n`);
  await once(socket, "data");
  socket.destroy();
}

/** Pages that take about as much memory as most others, but have other tokens. */
const PIPELINED = 100;
const SLOW_LIMIT = 50;

/** Asks for the same page more often than the sockets can hold, and reads the answers only when told to. */
function askSlowly() {
  const socket = connect(Number(new URL(listener.url).port), "127.0.0.1");
  const request = `GET /v1/tokens/${CONTRACT}?limit=${SLOW_LIMIT} HTTP/1.1\r\nHost: a\r\nx-api-key: ${TEST_KEY}\r\n\r\n`;
  socket.write(request.repeat(PIPELINED));
  return async (): Promise<string[]> => {
    const bodies: string[] = [];
    let received = Buffer.alloc(0);
    for await (const data of socket) {
      received = Buffer.concat([received, data as Buffer]);
      for (;;) {
        const head = received.indexOf("\r\n\r\n");
        const length = Number(/content-length: (\d+)/i.exec(received.toString("latin1", 0, head))?.[1]);
        if (head < 0 || received.length < head + 4 + length) break;
        bodies.push(received.toString("utf8", head + 4, head + 4 + length));
        received = received.subarray(head + 4 + length);
      }
      if (bodies.length === PIPELINED) break;
    }
    return bodies;
  };
}

test("answers don't share memory, also with those that nobody reads or whose clients have left", async () => {
  const slow = askSlowly();
  let next = 0;
  const client = async () => {
    while (next < 400) {
      const n = next++;
      // Everybody asks for every other page at the same time.
      await (n % 5 === 0 ? leaveEarly() : n % 7 === 0 ? checkUnchanged() : checkPage(n % 2 ? n : 7));
    }
  };
  await Promise.all(Array.from({ length: 24 }, client));
  const ids = Array.from({ length: SLOW_LIMIT }, (_, place) => String(place + 1));
  const bodies = await slow();
  expect(bodies).toHaveLength(PIPELINED);
  for (const body of bodies) {
    const { result } = JSON.parse(body) as Body;
    expect(result.map(({ token_id }) => token_id)).toEqual(ids);
    expect(result.map(({ metadata }) => (metadata as Row).raw)).toEqual(ids.map((id) => nameOf(Number(id))));
  }
});
