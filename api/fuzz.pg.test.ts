import { existsSync, readFileSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApi, type TestApi, TEST_KEY } from "../test/api.ts";
import { ALICE, APES, ITEMS, seed } from "../test/seed.ts";
import { listen, type Listener } from "./listen.ts";

const REQUESTS = 5000;
const PARALLEL = 16;
const LIMIT_MS = 1000;
const SAMPLES = join(import.meta.dirname, "../../shared/samples/c_bad_input");

let t: TestApi;
let listener: Listener;
const rejections: unknown[] = [];
const note = (reason: unknown) => rejections.push(reason);

beforeAll(async () => {
  process.on("unhandledRejection", note);
  t = await createTestApi({ config: { trustedProxies: ["127.0.0.1"] } });
  await seed(t.sql);
  listener = await listen(t.api, { host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await listener.close();
  await t.stop();
  process.off("unhandledRejection", note);
});

type Fuzz = { method: string; path: string; headers: Record<string, string>; body: Buffer | undefined };

const SQL = [
  "'",
  "' or 1=1 --",
  "1; drop table token",
  "\\x00",
  "$1",
  "1::int",
  "%27%20union%20select",
  "{}",
  "0x",
  "NaN",
];

/** Strings that are known to break services, if the sample files exist. */
function readSamples(): { strings: string[]; bodies: Buffer[]; methods: string[] } {
  if (!existsSync(SAMPLES)) return { strings: [], bodies: [], methods: [] };
  const text = (name: string) => readFileSync(join(SAMPLES, name), "utf8");
  const rows = (name: string) =>
    text(name)
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const params = JSON.parse(text("address_and_token_id_params.json")) as Record<string, (string | string[])[]>;
  return {
    strings: [
      ...rows("naughty_strings.ndjson").map(({ s }) => String(s)),
      ...rows("dompurify_payloads.ndjson").map(({ payload }) => String(payload)),
      ...rows("whatwg_urltestdata.ndjson").map(({ input }) => String(input)),
      ...rows("ssrf_ip_notations.ndjson").map(({ ip }) => String(ip)),
      ...text("fuzzdb_integer-overflows.txt").split("\n"),
      ...text("fuzzdb_corrupted.txt").split("\n"),
      ...Object.values(params).flat(2),
    ],
    bodies: rows("json_test_suite.ndjson").map(({ base64 }) => Buffer.from(String(base64), "base64")),
    methods: text("fuzzdb_http-protocol-methods.txt")
      .split("\n")
      .filter((method) => method !== "" && method !== "CONNECT"),
  };
}

const samples = readSamples();

/** Methods that Node knows. Its client doesn't send others, and its server doesn't read them. */
const KNOWN = new Set([
  "COPY",
  "LOCK",
  "MKCOL",
  "MOVE",
  "PROPFIND",
  "PROPPATCH",
  "SEARCH",
  "UNLOCK",
  "REPORT",
  "CHECKOUT",
  "MERGE",
  "NOTIFY",
  "SUBSCRIBE",
  "UNSUBSCRIBE",
  "ACL",
]);

const ENDPOINTS = [
  "/v1/contracts",
  "/v1/contracts/A",
  "/v1/tokens/A",
  "/v1/tokens/A/I",
  "/v1/tokens/batch",
  "/v1/tokens/A/I/metadata/refresh",
  "/v1/events/A",
  "/v1/events/A/I",
  "/v1/owners/A/tokens",
  "/v1/owners/A/contracts",
  "/v1/owners/A/all",
  "/keys",
  "/health",
  "/ready",
  "/status",
  "/metrics",
  "/openapi.json",
  "/docs",
  "/",
  "/X",
  "/v1/X/A",
];

const hostile = fc.oneof(
  fc.constantFrom(...SQL, ...samples.strings, "x".repeat(3000), "1".repeat(400)),
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({ maxLength: 60 }),
  fc.bigInt({ min: -(2n ** 260n), max: 2n ** 260n }).map(String),
);
/** Percent-encoded, half encoded, or bytes that aren't UTF-8. */
const encoded = fc.oneof(
  hostile.map((text) => encodeURIComponent(text.toWellFormed())),
  hostile.map((text) =>
    text.replaceAll(/[^!-~]|[#?]/g, (character) => `%${(character.charCodeAt(0) & 255).toString(16).padStart(2, "0")}`),
  ),
  fc
    .uint8Array({ maxLength: 20 })
    .map((bytes) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")),
  fc.constantFrom("%", "%zz", "%c0%ae", "..%2f..", "%00", "%ff", "+", "&", "=", "[]", "%E2%80%AE"),
);
const address = fc.oneof(
  { arbitrary: fc.constantFrom(APES, ITEMS, ALICE), weight: 3 },
  { arbitrary: encoded, weight: 1 },
);
const id = fc.oneof({ arbitrary: fc.constantFrom("1", "0x7", "10"), weight: 2 }, { arbitrary: encoded, weight: 1 });
const path = fc
  .tuple(fc.constantFrom(...ENDPOINTS), fc.constantFrom("", "", "/testnet"), address, id, encoded)
  .map(([template, prefix, a, i, x]) => prefix + template.replace("A", a).replace(/\bI\b/, i).replace("X", x));
const query = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom("limit", "cursor", "tokens_ids", "contract_address"), encoded), encoded), {
    maxLength: 4,
  })
  .map((pairs) => (pairs.length === 0 ? "" : `?${pairs.map(([name, value]) => `${name}=${value}`).join("&")}`));
const headerText = hostile.map((text) => text.replaceAll(/[^\t -~\u0080-\u00ff]/g, "?"));
const headers = fc.record(
  {
    "x-api-key": fc.oneof({ arbitrary: fc.constant(TEST_KEY), weight: 6 }, { arbitrary: headerText, weight: 1 }),
    "content-type": fc.oneof(
      fc.constantFrom("application/json", "application/json; charset=utf-8", "text/plain"),
      headerText,
    ),
    "accept-encoding": fc.oneof(fc.constantFrom("gzip", "br", "gzip;q=x", "*;q=0"), headerText),
    "if-none-match": headerText,
    "x-forwarded-for": headerText,
    "content-encoding": fc.constantFrom("identity", "gzip", "br"),
    host: fc.constantFrom("localhost", "x", "[::1]", "a b", "%00"),
    cookie: headerText,
  },
  { requiredKeys: ["x-api-key"] },
);
const batch = fc.record(
  {
    tokens: fc.array(
      fc.record({ contract_address: fc.oneof(address, hostile), token_id: fc.oneof(id, hostile, fc.integer()) }),
      { maxLength: 5 },
    ),
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  batch.map((value) => Buffer.from(JSON.stringify(value))),
  fc.json().map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom(
    ...samples.bodies,
    Buffer.from("[".repeat(100_000)),
    Buffer.from('{"tokens":'),
    Buffer.from("\ufeff{}"),
    Buffer.from('{"__proto__":{"x":1},"name":"p"}'),
  ),
);
const method = fc.oneof(
  { arbitrary: fc.constant("GET"), weight: 6 },
  { arbitrary: fc.constant("POST"), weight: 3 },
  {
    arbitrary: fc.constantFrom(
      "PUT",
      "DELETE",
      "HEAD",
      "OPTIONS",
      "PATCH",
      "TRACE",
      ...samples.methods.filter((name) => KNOWN.has(name)),
    ),
    weight: 1,
  },
);

const fuzz: fc.Arbitrary<Fuzz> = fc
  .tuple(method, path, query, headers, body)
  .map(([verb, place, search, head, content]) => ({
    method: verb,
    path: place + search,
    headers: head as Record<string, string>,
    body: verb === "POST" || verb === "PUT" || verb === "PATCH" ? content : undefined,
  }));

test(`${REQUESTS} hostile requests get no 5xx, each an answer within a second${samples.strings.length === 0 ? " (SKIPPED: the samples, which are not here)" : ""}`, async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: PARALLEL });
  const requests = fc.sample(fuzz, { numRuns: REQUESTS, seed: 20_261_120 });
  const statuses = new Map<number, number>();
  const slow: Fuzz[] = [];
  const failures: unknown[] = [];
  const look = async (item: Fuzz): Promise<Answer> => {
    const answer = await send(item, agent);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const isFine = answer.status < 500 && answer.status > 0 && isShaped(answer, item);
    if (!isFine) failures.push({ item: shownOf(item), answer });
    return answer;
  };
  let next = 0;
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      for (let item = requests[next++]; item; item = requests[next++])
        if ((await look(item)).ms >= LIMIT_MS) slow.push(item);
    }),
  );
  // A machine that stood still holds up all that are under way, once; a request that is slow is slow again, and alone.
  for (const item of slow) {
    const { ms } = await look(item);
    if (ms >= LIMIT_MS) failures.push({ item: shownOf(item), ms });
  }
  agent.destroy();
  expect(failures.slice(0, 5)).toEqual([]);
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 400, 401, 404, 405, 415]));
  expect(rejections).toEqual([]);
  expect((await t.request("/health")).status).toBe(200);
  expect((await t.sql`select count(*)::int as count from onchain_mainnet.token`)[0]?.count).toBe(8);
});

/** As a failure shows it. */
const shownOf = (item: Fuzz) => ({ ...item, body: item.body?.toString("latin1").slice(0, 200) });

type Answer = { status: number; ms: number; text: string; type: string };

/** Whether a refusal has the usual shape of errors. */
function isShaped({ status, text, type }: Answer, { method: verb }: Fuzz): boolean {
  if (status < 400 || verb === "HEAD") return true;
  if (type !== "application/json") return false;
  const parsed = JSON.parse(text) as Record<string, unknown>;
  return (
    Object.keys(parsed).join() === "type,message" &&
    parsed.type === "invalid_request" &&
    typeof parsed.message === "string"
  );
}

function send({ method: verb, path: place, headers: head, body: content }: Fuzz, agent: Agent): Promise<Answer> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      listener.url,
      { method: verb, path: place === "" ? "/" : place, headers: head, agent, timeout: 5000 },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            ms: performance.now() - started,
            text: response.headers["content-encoding"] ? "" : Buffer.concat(chunks).toString(),
            type: response.headers["content-type"] ?? "",
          }),
        );
      },
    );
    request.on("timeout", () => request.destroy(new Error(`no answer to ${verb} ${place}`)));
    request.on("error", reject);
    request.end(content);
  });
}
