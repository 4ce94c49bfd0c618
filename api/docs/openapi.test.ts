import { Validator } from "@seriousme/openapi-schema-validator";
import { type Hex, hashStruct, numberToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { SEAPORT_ADDRESSES } from "../../abis/seaport.ts";
import { OrderBody } from "../orderbook/order-body.ts";
import { fieldsOf } from "../orderbook/order-signature.ts";
import { renderDocs } from "./docs.ts";
import { createOpenApiDocument } from "./openapi.ts";
import type { Schema, ShownDocument } from "./shown-document.ts";

const document = createOpenApiDocument();

test("the document is valid OpenAPI 3.1", async () => {
  const result = await new Validator().validate(JSON.parse(JSON.stringify(document)) as Record<string, unknown>);
  expect(result).toMatchObject({ valid: true });
  expect(document.openapi).toBe("3.1.0");
  // The schema that orval 7 and others check with wants one of url and identifier.
  expect(document.info.license).toHaveProperty("url");
});

test("the eleven endpoints of the specification are in it, and each operation has a name of its own", () => {
  const named = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, { operationId: string }>).map(
      ([method, { operationId }]) => [`${method.toUpperCase()} ${path}`, operationId] as const,
    ),
  );
  const operations = named.map(([operation]) => operation);
  expect(operations.filter((operation) => operation.includes(" /v1/"))).toHaveLength(11);
  expect(named.map((words) => words.join(": "))).toMatchInlineSnapshot(`
    [
      "GET /v1/contracts: listContracts",
      "GET /v1/contracts/{contract_address}: getContract",
      "GET /v1/tokens/{contract_address}: listTokens",
      "GET /v1/tokens/{contract_address}/{token_id}: getToken",
      "POST /v1/tokens/batch: batchTokens",
      "POST /v1/tokens/{contract_address}/{token_id}/metadata/refresh: refreshMetadata",
      "GET /v1/events/{contract_address}: listContractEvents",
      "GET /v1/events/{contract_address}/{token_id}: listTokenEvents",
      "GET /v1/owners/{account_address}/tokens: listOwnerTokens",
      "GET /v1/owners/{account_address}/contracts: listOwnerContracts",
      "GET /v1/owners/{account_address}/all: listHoldings",
      "GET /orderbook/token/{contract_address}/{token_id}: getOrderbookToken",
      "GET /orderbook/tokens/collection/{contract_address}: listOrderbookCollectionTokens",
      "GET /orderbook/v1/tokens/{account_address}: listOrderbookOwnerTokens",
      "GET /orderbook/tokens/{account_address}: listOrderbookOwnerTokensAlias",
      "GET /orderbook/token/{account_address}: listOrderbookOwnerTokensAlias2",
      "GET /orderbook/token/{contract_address}/{token_id}/offers: listTokenOffers",
      "GET /orderbook/token/{contract_address}/{token_id}/history: listTokenOrderHistory",
      "POST /orderbook/orders: createOrder",
      "GET /orderbook/orders/{order_hash}: getOrder",
      "GET /marketplace/collections: listCollections",
      "GET /marketplace/collections/{address}/{chain_id}: getCollection",
      "GET /marketplace/portfolio/{user_address}/collections: listPortfolioCollections",
      "GET /marketplace/collections/{address}/{chain_id}/tokens: listCollectionTokens",
      "GET /marketplace/portfolio/{user_address}: listPortfolioTokens",
      "POST /keys: createKey",
      "GET /health: getHealth",
      "GET /ready: getReady",
      "GET /status: getStatus",
      "GET /media/{key}: getMedia",
    ]
  `);
  expect(new Set(named.map(([, id]) => id)).size).toBe(operations.length);
});

test("a pattern holds for its example however it is compiled: most generated clients don't set the flag u", () => {
  const wrong: unknown[] = [];
  JSON.stringify(document, (_, value: unknown) => {
    const { pattern, example } = (value ?? {}) as { pattern?: string; example?: unknown };
    if (typeof pattern === "string" && typeof example === "string" && !new RegExp(pattern).test(example))
      wrong.push({ pattern, example });
    return value;
  });
  expect(wrong).toEqual([]);
});

test("patterns name ASCII alone: what is above it Ruby refuses to compile, and PHP takes for a byte of a letter", () => {
  const patterns = JSON.stringify(document).match(/"pattern":"[^"]*"/g) ?? [];
  expect(patterns.length).toBeGreaterThan(10);
  expect(patterns.filter((pattern) => /\\(?:x[89a-f]|u)/.test(pattern))).toEqual([]);
});

test("no enum has null among its values, of which some generated clients make code that doesn't compile", () => {
  const enums = JSON.stringify(document).match(/"enum":\[[^\]]*\]/g) ?? [];
  expect(enums.length).toBeGreaterThan(10);
  expect(enums.filter((values) => values.includes("null"))).toEqual([]);
});

test("numbers say how wide they are: by default those of generated Go and Rust have seven digits, ids of chains 32 bits", () => {
  const numbers = JSON.stringify(document).match(/\{"type":(?:"number"|\["number","null"\])[^}]*/g) ?? [];
  expect(numbers.length).toBeGreaterThan(10);
  expect(numbers.filter((number) => !number.includes('"format":"double"'))).toEqual([]);
  expect(schemas.NetworkStatus?.properties?.chain_id).toMatchObject({ type: "integer", format: "int64" });
});

test("no object has fields of any type, which is none in Rust", () => {
  expect(JSON.stringify(document)).not.toContain('"additionalProperties":{}');
});

test("what isn't said in OpenAPI 3.0 is null beside one type: tools of 3.0 take the document converted, and nothing else is", () => {
  const types = new Set(JSON.stringify(document).match(/"type":(?:\[[^\]]*\]|"null")/g));
  expect([...types].filter((type) => !/^"type":\["[a-z]+","null"\]$/.test(type))).toEqual([]);
});

test("what a parameter takes as true or false is a boolean: of a choice of texts generated clients would ask for texts", () => {
  const parameters = operations.flatMap(({ operation }) => operation.parameters ?? []);
  const choices = parameters.filter(({ schema }) => schema?.enum?.includes("true") || schema?.type === "boolean");
  expect(choices.map(({ name, schema }) => `${name}: ${schema?.type}`)).toEqual([
    "buy_now: boolean",
    "buy_now: boolean",
  ]);
});

type Part = {
  description?: string;
  headers?: object;
  content?: Record<string, { schema?: Schema; example?: unknown }>;
};
type Operation = {
  summary?: string;
  description?: string;
  security?: unknown[];
  parameters?: { name: string; description?: string; schema?: { type?: string; enum?: string[] } }[];
  requestBody?: Part;
  responses?: Record<string, Part>;
};

/** Names of what is below `schema` and doesn't say what it means, directly or by what it refers to. */
function undescribed(schema: Schema | undefined, name: string): string[] {
  if (!schema || schema.$ref !== undefined) return [];
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([key, property]) => [
      ...(isDescribed(property) ? [] : [`${name}.${key}`]),
      ...undescribed(property, `${name}.${key}`),
    ]),
    ...undescribed(schema.items, `${name}[]`),
    ...parts.flatMap((part) => undescribed(part, name)),
  ];
}

const isDescribed = ({ $ref, description = "" }: Schema): boolean =>
  description !== "" || ($ref !== undefined && isDescribed(schemas[$ref.split("/").at(-1) ?? ""] ?? {}));

const schemas = (document as ShownDocument).components?.schemas ?? {};
const operations = Object.entries((document as ShownDocument).paths ?? {}).flatMap(([path, methods]) =>
  Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);

test("every schema, property, parameter, header and answer says what it means", () => {
  const ofSchemas = Object.entries(schemas).flatMap(([name, schema]) => [
    ...(isDescribed(schema) ? [] : [name]),
    ...undescribed(schema, name),
  ]);
  const ofOperations = operations.flatMap(
    ({ name, operation: { summary, parameters = [], requestBody, responses } }) => [
      ...(summary ? [] : [name]),
      ...parameters
        .filter((parameter) => !parameter.description)
        .map((parameter) => `${name}, parameter ${parameter.name}`),
      ...Object.entries({ body: requestBody, ...responses }).flatMap(([place, part]) => [
        ...(place === "body" || part?.description ? [] : [`${name}, ${place}`]),
        ...Object.values(part?.content ?? {}).flatMap(({ schema }) => undescribed(schema, `${name}, ${place}`)),
      ]),
    ],
  );
  const others = Object.entries({ ...document.components?.headers, ...document.components?.securitySchemes })
    .filter(([, part]) => !(part as Part).description)
    .map(([name]) => name);
  expect([...ofSchemas, ...ofOperations, ...others]).toEqual([]);
});

test("every operation has an example of what it takes and answers in JSON", () => {
  const without = operations.flatMap(({ name, operation: { requestBody, responses = {} } }) => {
    const [, success] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? [];
    return Object.entries({ body: requestBody, answer: success })
      .filter(([, part]) => {
        const json = part?.content?.["application/json"];
        return json !== undefined && !("example" in json);
      })
      .map(([place]) => `${name}, ${place}`);
  });
  expect(without).toEqual([]);
});

test("the signed order is signed as it says, so that who signs without Seaport's client can compare", async () => {
  const {
    requestBody,
    responses,
    description = "",
  } = operations.find(({ name }) => name === "POST /orderbook/orders")!.operation;
  const { parameters, signature } = OrderBody.parse(exampleOf(requestBody));
  const account = privateKeyToAccount(numberToHex(1, { size: 32 }));
  const [type = ""] = /OrderComponents\(.*\)/.exec(description) ?? [];
  const types = Object.fromEntries(
    [...type.matchAll(/(\w+)\(([^)]*)\)/g)].map(([, name, fields]) => [name, fieldsOf(fields!)]),
  );
  const domain = {
    name: "Seaport",
    version: "1.6",
    chainId: 1,
    verifyingContract: SEAPORT_ADDRESSES.find((address) => description.includes(address)) as Hex,
  };
  const message = { ...parameters };
  expect(exampleOf(responses?.[200])).toEqual({
    result: { order_hash: hashStruct({ data: message, primaryType: "OrderComponents", types }) },
  });
  expect(await account.signTypedData({ domain, types, primaryType: "OrderComponents", message })).toBe(signature);
});

const exampleOf = (part: Part | undefined): unknown => part?.content?.["application/json"]?.example;

test("what has an ETag takes If-None-Match and may be 304, and nothing else is", () => {
  const withTag = operations.filter(({ operation: { responses = {} } }) => "ETag" in (responses[200]?.headers ?? {}));
  const conditional = operations.filter(({ operation: { parameters = [], responses = {} } }) => {
    const isTaken = parameters.some(({ name }) => name === "If-None-Match");
    expect(isTaken).toBe("304" in responses);
    return isTaken;
  });
  expect(conditional).toEqual(withTag);
  expect(withTag).toHaveLength(10);
});

test("every operation says whether it takes a key: by itself, or by the document, which says none", () => {
  expect(document.security).toEqual([]);
  const withKey = operations.filter(({ operation }) => operation.security !== undefined);
  expect(withKey.map(({ operation }) => operation.security)).toEqual(withKey.map(() => [{ key: [] }]));
  expect(withKey.map(({ name }) => name)).toEqual(
    operations.map(({ name }) => name).filter((name) => name.includes(" /v1/")),
  );
});

test("no operation has servers of its own: Postman and generated clients would ask those, whatever host they are given", () => {
  expect(operations.filter(({ operation }) => "servers" in operation)).toEqual([]);
  expect(document.servers?.map(({ url }) => url)).toEqual(["/", "/testnet"]);
});

test("media are bytes to generated clients: images are named, and are binary", () => {
  const { responses = {} } = operations.find(({ name }) => name === "GET /media/{key}")!.operation;
  const bytes = { schema: { type: "string", format: "binary" } };
  for (const status of [200, 206]) expect(responses[status]?.content).toEqual({ "image/*": bytes, "*/*": {} });
});

test("the reader shows every path and asks nobody for anything", async () => {
  const page = String(await renderDocs(document as ShownDocument));
  for (const path of Object.keys(document.paths ?? {})) expect(page).toContain(path);
  expect(page).not.toMatch(/<script|https?:\/\/|@import|src=/);
});

test("what the document says is text to the reader, and two marks are markup", async () => {
  const hostile = `"><script>'&`;
  const described = { description: `**a \`b\`** and \`c\` ${hostile}` };
  const page = String(
    await renderDocs({
      info: { title: hostile, version: "1", ...described },
      tags: [{ name: hostile, ...described }],
      paths: {
        [hostile]: {
          [hostile]: {
            operationId: hostile,
            tags: [hostile],
            summary: hostile,
            parameters: [{ name: hostile, in: hostile, schema: { type: hostile, default: hostile } }],
            requestBody: { content: { "application/json": { schema: { enum: [hostile] }, example: hostile } } },
            responses: { [hostile]: described },
          },
        },
      },
      components: { schemas: { [hostile]: { properties: { [hostile]: { $ref: hostile } } } } },
    }),
  );
  expect(page).not.toMatch(/<script/i);
  expect(page).toContain("<strong>a <code>b</code></strong> and <code>c</code> &quot;&gt;&lt;script&gt;&#39;&amp;");
});
