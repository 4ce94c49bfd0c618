import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { renderDocs, type ShownDocument } from "./docs.ts";
import { createOpenApiDocument } from "./openapi.ts";

const document = createOpenApiDocument();

test("the document is valid OpenAPI 3.1", async () => {
  const result = await new Validator().validate(JSON.parse(JSON.stringify(document)) as Record<string, unknown>);
  expect(result).toMatchObject({ valid: true });
  expect(document.openapi).toBe("3.1.0");
});

test("the eleven endpoints of the specification are in it, and each operation once", () => {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(operations.filter((operation) => operation.includes(" /v1/"))).toHaveLength(11);
  expect(operations).toMatchInlineSnapshot(`
    [
      "GET /v1/contracts",
      "GET /v1/contracts/{contract_address}",
      "GET /v1/tokens/{contract_address}",
      "GET /v1/tokens/{contract_address}/{token_id}",
      "POST /v1/tokens/batch",
      "POST /v1/tokens/{contract_address}/{token_id}/metadata/refresh",
      "GET /v1/events/{contract_address}",
      "GET /v1/events/{contract_address}/{token_id}",
      "GET /v1/owners/{account_address}/tokens",
      "GET /v1/owners/{account_address}/contracts",
      "GET /v1/owners/{account_address}/all",
      "GET /orderbook/token/{contract_address}/{token_id}",
      "GET /orderbook/tokens/collection/{contract_address}",
      "GET /orderbook/v1/tokens/{account_address}",
      "GET /orderbook/tokens/{account_address}",
      "GET /orderbook/token/{account_address}",
      "GET /orderbook/token/{contract_address}/{token_id}/offers",
      "GET /orderbook/token/{contract_address}/{token_id}/history",
      "POST /orderbook/orders",
      "GET /orderbook/orders/{order_hash}",
      "GET /marketplace/collections",
      "GET /marketplace/collections/{address}/{chain_id}",
      "GET /marketplace/portfolio/{user_address}/collections",
      "GET /marketplace/collections/{address}/{chain_id}/tokens",
      "GET /marketplace/portfolio/{user_address}",
      "POST /keys",
      "GET /health",
      "GET /ready",
      "GET /status",
      "GET /media/{key}",
    ]
  `);
  const ids = JSON.stringify(document).match(/"operationId":"[^"]+"/g) ?? [];
  expect(new Set(ids).size).toBe(operations.length);
});

test("the reader shows every path and asks nobody for anything", () => {
  const page = renderDocs(document as ShownDocument);
  for (const path of Object.keys(document.paths ?? {})) expect(page).toContain(path);
  expect(page).not.toMatch(/<script|https?:\/\/|@import|src=/);
});
