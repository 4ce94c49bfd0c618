/** The specification's fields, written by hand: a missing, extra or retyped one fails by its name. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addressOf, type Body, createTestApi, type TestApi, TEST_KEY } from "../test/api.ts";
import { ALICE, APES, ITEMS, seed, TEST_APES } from "../test/seed.ts";
import { createOpenApiDocument } from "./docs/openapi.ts";

type Field =
  | "string"
  | "integer"
  | "boolean"
  | "string|null"
  | "integer|null"
  | "array|null"
  | Shape
  | [Shape]
  | "null";
type Shape = { [name: string]: Field };

const CONTRACT: Shape = {
  contract_address: "string",
  contract_type: "string",
  name: "string",
  symbol: "string",
  image: "string|null",
};
const MINT: Shape = { address: "string|null", timestamp: "integer|null", transaction_hash: "string|null" };
const MINT_WITH_BLOCK: Shape = { ...MINT, block_number: "integer|null" };
const METADATA: Shape = {
  normalized: {
    image_mime_type: "string",
    image_key: "string",
    image: "string",
    image_data: "string",
    external_url: "string",
    description: "string",
    name: "string",
    attributes: [{ display_type: "string|null", trait_type: "string", value: "string" }],
    properties: "array|null",
    background_color: "string",
    animation_url: "string",
    animation_key: "string",
    animation_mime_type: "string",
    youtube_url: "string",
  },
  raw: "string",
  metadata_updated_at: "integer|null",
};
const TOKEN: Shape = {
  contract_address: "string",
  token_id: "string",
  token_id_hex: "string",
  owner: "string",
  mint_info: MINT,
  metadata: METADATA,
  type: "string",
};
const EVENT: Shape = {
  contract_address: "string",
  contract_type: "string",
  event_id: "string",
  event_type: "string",
  from_address: "string",
  to_address: "string",
  timestamp: "integer",
  token_id: "string",
  token_id_hex: "string",
  transaction_hash: "string",
  quantity: "string",
  block_number: "integer",
  log_index: "integer",
};
const OWNER_TOKEN: Shape = {
  contract_address: "string",
  token_id: "string",
  token_id_hex: "string",
  owner: "string",
  block_number_minted: "string|null",
  token_uri: "string",
  name: "string",
  symbol: "string",
  metadata: "string",
  normalized_metadata: "string",
  last_metadata_refresh: "integer|null",
  minter_address: "string|null",
  mint_transaction_hash: "string|null",
  balance: "string",
};
const HOLDINGS: Shape = {
  contract_address: "string",
  contract_name: "string",
  contract_symbol: "string",
  contract_image: "string|null",
  items: [
    {
      token_id: "string",
      owner: "string",
      mint_info: MINT_WITH_BLOCK,
      metadata: METADATA,
      awaiting_metadata_update: "boolean",
    },
  ],
};
const list = (item: Shape): Shape => ({ cursor: "string|null", result: [item] });

type Case = { method?: string; path: string; on: string; body?: unknown; shape: Shape };

/** Each endpoint with its path in the OpenAPI document (`on`). */
const CASES: Case[] = [
  { path: "/v1/contracts", on: "/v1/contracts", shape: list(CONTRACT) },
  {
    path: "/v1/contracts/{contract_address}",
    on: `/v1/contracts/${APES}`,
    shape: { result: CONTRACT, cursor: "null" },
  },
  { path: "/v1/tokens/{contract_address}", on: `/v1/tokens/${APES}`, shape: list(TOKEN) },
  { path: "/v1/tokens/{contract_address}", on: `/v1/tokens/${ITEMS}?limit=1`, shape: list(TOKEN) },
  { path: "/v1/tokens/{contract_address}/{token_id}", on: `/v1/tokens/${APES}/1`, shape: { result: TOKEN } },
  { path: "/v1/tokens/{contract_address}/{token_id}", on: `/v1/tokens/${APES}/10`, shape: { result: TOKEN } },
  {
    method: "POST",
    path: "/v1/tokens/batch",
    on: "/v1/tokens/batch",
    body: { tokens: ["1", "10"].map((token_id) => ({ contract_address: APES, token_id })) },
    shape: {
      result: [{ ...TOKEN, mint_info: MINT_WITH_BLOCK, contract_name: "string", awaiting_metadata_update: "boolean" }],
    },
  },
  {
    method: "POST",
    path: "/v1/tokens/{contract_address}/{token_id}/metadata/refresh",
    on: `/v1/tokens/${APES}/2/metadata/refresh`,
    shape: { result: "string" },
  },
  { path: "/v1/events/{contract_address}", on: `/v1/events/${APES}`, shape: list(EVENT) },
  { path: "/v1/events/{contract_address}/{token_id}", on: `/v1/events/${APES}/1`, shape: list(EVENT) },
  { path: "/v1/owners/{account_address}/tokens", on: `/v1/owners/${ALICE}/tokens`, shape: list(OWNER_TOKEN) },
  { path: "/v1/owners/{account_address}/contracts", on: `/v1/owners/${ALICE}/contracts`, shape: list(CONTRACT) },
  { path: "/v1/owners/{account_address}/all", on: `/v1/owners/${ALICE}/all`, shape: list(HOLDINGS) },
  {
    path: "/v1/owners/{account_address}/all",
    on: `/v1/owners/${addressOf(0x404)}/all`,
    shape: { cursor: "null", result: [{}] },
  },
  {
    method: "POST",
    path: "/keys",
    on: "/keys",
    body: { name: "test" },
    shape: { result: { key: "string", prefix: "string", name: "string" } },
  },
  { path: "/health", on: "/health", shape: { status: "string" } },
  { path: "/ready", on: "/ready", shape: { status: "string" } },
];

/** How `value` differs from `field`, by the names of its fields. */
function differences(value: unknown, field: Field, name: string): string[] {
  const type =
    value === null ? "null" : Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value;
  if (typeof field === "string") return field.split("|").includes(type) ? [] : [`${name} is ${type}, not ${field}`];
  if (Array.isArray(field)) {
    if (!Array.isArray(value)) return [`${name} is ${type}, not array`];
    return value.flatMap((item) => differences(item, field[0], `${name}[]`));
  }
  if (type !== "object") return [`${name} is ${type}, not object`];
  const object = value as Record<string, unknown>;
  return [
    ...Object.keys(object)
      .filter((key) => !(key in field))
      .map((key) => `${name}.${key} is extra`),
    ...Object.entries(field).flatMap(([key, expected]) =>
      key in object ? differences(object[key], expected, `${name}.${key}`) : [`${name}.${key} is missing`],
    ),
  ];
}

const document = createOpenApiDocument();
const ajv = new Ajv2020({ strict: false, allErrors: true, schemas: [{ ...document, $id: "openapi" }] });

/** Errors of `value` by the schema at a place in the document. */
function errorsAt(place: readonly string[], value: unknown) {
  const pointer = place.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
  const validate = ajv.compile({ $ref: `openapi#/${pointer}` });
  validate(value);
  return (validate.errors ?? []).map((error) => ({ place: place.join(" "), ...error }));
}

const JSON_SCHEMA = ["content", "application/json", "schema"];

/** Errors of an answer by the document's schema. */
function documentErrors({
  path,
  method,
  status,
  body,
}: {
  path: string;
  method: string;
  status: number;
  body: unknown;
}) {
  return errorsAt(["paths", path, method.toLowerCase(), "responses", String(status), ...JSON_SCHEMA], body);
}

let t: TestApi;

beforeAll(async () => {
  t = await createTestApi();
  await seed(t.sql);
});
afterAll(() => t.stop());

const send = async ({ method = "GET", on, body }: Omit<Case, "shape" | "path">, prefix = "", headers = {}) => {
  const response = await t.request(prefix + on, {
    method,
    headers: { ...(method === "POST" ? { "content-type": "application/json" } : {}), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { response, status: response.status, body: (await response.json()) as Body };
};

test.each(CASES)("$on has the specification's fields, and is as documented", async (endpoint) => {
  const { method = "GET", path, shape } = endpoint;
  const { status, body, response } = await send(endpoint);
  expect(status).toBe(path === "/keys" ? 201 : 200);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(differences(body, shape, "body")).toEqual([]);
  expect(documentErrors({ path, method, status, body })).toEqual([]);
});

test("/status is as documented", async () => {
  const { status, body } = await send({ on: "/status" });
  expect(Object.keys(body)).toEqual(["networks", "metadata"]);
  expect(documentErrors({ path: "/status", method: "get", status, body })).toEqual([]);
});

describe.each(["", "/testnet"])("errors under %j", (prefix) => {
  const contract = prefix === "" ? APES : TEST_APES;
  const errors: [number, string, Omit<Case, "shape">, Record<string, string>?][] = CASES.filter(({ path }) =>
    path.startsWith("/v1/"),
  ).flatMap((endpoint) => [
    [401, "an unknown key", endpoint, { "x-api-key": "unknown" }],
    ...(endpoint.path.includes("{")
      ? ([[400, "an address that is none", { ...endpoint, on: endpoint.on.replace(/0x[0-9a-f]{40}/, "0xz") }]] as [
          number,
          string,
          Omit<Case, "shape">,
        ][])
      : []),
    ...(endpoint.path.includes("{contract_address}")
      ? ([
          [404, "an unknown contract", { ...endpoint, on: endpoint.on.replace(/0x[0-9a-f]{40}/, addressOf(0x999)) }],
        ] as [number, string, Omit<Case, "shape">][])
      : []),
  ]);

  test.each([
    ...errors,
    [400, "an id that is none", { path: "/v1/tokens/{contract_address}/{token_id}", on: `/v1/tokens/${contract}/x` }],
    [400, "an id that is none", { path: "/v1/events/{contract_address}/{token_id}", on: `/v1/events/${contract}/x` }],
    [404, "an unknown token", { path: "/v1/tokens/{contract_address}/{token_id}", on: `/v1/tokens/${contract}/99` }],
    [404, "an unknown token", { path: "/v1/events/{contract_address}/{token_id}", on: `/v1/events/${contract}/99` }],
    [400, "a bad limit", { path: "/v1/contracts", on: "/v1/contracts?limit=0" }],
    [400, "a bad cursor", { path: "/v1/contracts", on: "/v1/contracts?cursor=x" }],
    [400, "an empty batch", { method: "POST", path: "/v1/tokens/batch", on: "/v1/tokens/batch", body: { tokens: [] } }],
    [
      415,
      "a body that isn't JSON",
      { method: "POST", path: "/v1/tokens/batch", on: "/v1/tokens/batch", body: {} },
      { "content-type": "text/plain" },
    ],
    [
      413,
      "a large body",
      { method: "POST", path: "/v1/tokens/batch", on: "/v1/tokens/batch", body: "x".repeat(1_048_576) },
    ],
  ] as typeof errors)("%i for %s on $on", async (status, _, endpoint, headers = {}) => {
    const answer = await send(endpoint, prefix, headers);
    expect(answer.status).toBe(status);
    expect(differences(answer.body, { type: "string", message: "string" }, "body")).toEqual([]);
    expect(answer.body.type).toBe("invalid_request");
    const { path, method = "GET" } = endpoint;
    expect(documentErrors({ path, method, status, body: answer.body })).toEqual([]);
  });
});

const ADDRESS_EXPECTED = "Expected 0x and 40 hex digits.";
const ORDER = { offerer: ALICE, zone: addressOf(0), consideration: [] };
test.each([
  [
    "/v1/tokens/batch",
    { tokens: [{ contract_address: APES, token_id: "1" }, { token_id: "1" }] },
    "Address is missing. Expected 0x and 40 hex digits. (tokens[1].contract_address)",
  ],
  [
    "/v1/tokens/batch",
    { tokens: [{ contract_address: APES }] },
    "Token id is missing. Expected decimal, or 0x and up to 64 hex digits, at most 2^256-1. (tokens[0].token_id)",
  ],
  [
    "/v1/tokens/batch",
    { tokens: [{ contract_address: APES, token_id: ["1"] }] },
    "Token id […] is invalid. Expected a text. (tokens[0].token_id)",
  ],
  [
    "/orderbook/orders",
    { parameters: { ...ORDER, zone: undefined } },
    "Address is missing. Expected 0x and 40 hex digits. (parameters.zone)",
  ],
  [
    "/orderbook/orders",
    { parameters: ORDER },
    "offer is missing or not an array. Expected 1 to 20 items. (parameters.offer)",
  ],
  [
    "/orderbook/orders",
    { parameters: { ...ORDER, offer: [{ itemType: 2, token: "x" }] } },
    'Address "x" is invalid. Expected 0x and 40 hex digits. (parameters.offer[0].token)',
  ],
  [
    "/orderbook/orders",
    { parameters: { ...ORDER, offer: [5] } },
    "Not an item. Expected an object of itemType, token, identifierOrCriteria, startAmount and endAmount. (parameters.offer[0])",
  ],
])("a fault in a body of %s is told with its place and what is accepted: %j", async (on, body, message) => {
  expect(await send({ method: "POST", on, body })).toMatchObject({
    status: 400,
    body: { type: "invalid_request", message },
  });
});

test.each([
  [`/v1/owners/${ALICE}/tokens?contract_address=`, `Address "" is invalid. ${ADDRESS_EXPECTED} (contract_address)`],
  [
    `/v1/owners/${ALICE}/tokens?contract_address=${APES}&contract_address=${APES}`,
    "Address is given 2 times. Expected once. (contract_address)",
  ],
  [`/marketplace/portfolio/${ALICE}?collection=apes`, `Address "apes" is invalid. ${ADDRESS_EXPECTED} (collection)`],
  ["/v1/owners/ada/tokens", `Address "ada" is invalid. ${ADDRESS_EXPECTED} (account_address)`],
  // The message begins with the name.
  ["/marketplace/collections/apes/1", `Address "apes" is invalid. ${ADDRESS_EXPECTED}`],
  ["/v1/contracts?limit=x", 'limit "x" is invalid. Expected a whole number from 1 to 250.'],
])("%s is told which parameter is wrong", async (on, message) => {
  expect(await send({ on })).toMatchObject({ status: 400, body: { type: "invalid_request", message } });
});

test("a body of exactly 1,048,576 bytes is read, one more is not", async () => {
  const bodyOf = (size: number) => {
    const start = `{"tokens":[{"contract_address":"${APES}","token_id":"1"}],"pad":"`;
    return `${start}${"x".repeat(size - start.length - 2)}"}`;
  };
  const status = async (body: string) =>
    (
      await t.api.app.request("/v1/tokens/batch", {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": TEST_KEY },
        body,
      })
    ).status;
  expect([await status(bodyOf(1_048_576)), await status(bodyOf(1_048_577))]).toEqual([200, 413]);
});

test("every path that is answered is documented", () => {
  const undocumented = t.api.app.routes
    .filter(({ method, path }) => method !== "ALL" && !path.startsWith("/testnet/"))
    .map(({ method, path }) => [path.replaceAll(/:(\w+)/g, "{$1}"), method.toLowerCase()] as const)
    .filter(([path, method]) => !(method in (document.paths?.[path] ?? {})));
  expect(undocumented.map(([path]) => path)).toEqual(["/openapi.json", "/docs", "/metrics"]);
});

test("examples of the document are as documented", () => {
  const wrong: unknown[] = [];
  let count = 0;
  const check = (place: readonly string[], example: unknown) => {
    count += 1;
    wrong.push(...errorsAt(place, example));
  };
  /** Finds examples: next to the schema of a body or an answer, or within the schema of a field. */
  const walk = (part: unknown, place: readonly string[]): void => {
    if (typeof part !== "object" || part === null) return;
    if ("example" in part) check("schema" in part ? [...place, "schema"] : place, part.example);
    for (const [key, value] of Object.entries(part)) if (key !== "example") walk(value, [...place, key]);
  };
  walk(document.paths, ["paths"]);
  walk(document.components, ["components"]);
  expect(count).toBeGreaterThan(Object.keys(document.paths ?? {}).length);
  expect(wrong).toEqual([]);
});
