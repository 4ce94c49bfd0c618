import { expect, test } from "vitest";
import { classifyError } from "./provider-error.ts";

// Errors of providers and nodes, from their documentation and from their users' reports.
const cases: [number, string, ReturnType<typeof classifyError>][] = [
  [
    -32_005,
    "query returned more than 10000 results. Try with this block range [0x1, 0x2f].",
    { kind: "too large", maxLogs: 10_000, upTo: 47 },
  ],
  [-32_602, "query exceeds max block range 1000", { kind: "too large", maxBlocks: 1000 }],
  [-32_602, "range 1000000 exceeds limit of 10000", { kind: "too large", maxBlocks: 10_000 }],
  [-32_602, 'invalid params {"payload":"range 9009594 is bigger than range limit 2000"}', { kind: "too large" }],
  [
    -32_600,
    "You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x123c9b2, 0x123cba5]",
    { kind: "too large", maxBlocks: 500, upTo: 0x123cba5 },
  ],
  [
    -32_602,
    "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size",
    { kind: "too large", maxBlocks: 2000 },
  ],
  [-32_000, "block range is bigger than maxBlockRange", { kind: "too large" }],
  [-32_603, "block range is too wide (maximum 1024)", { kind: "too large", maxBlocks: 1024 }],
  [
    -32_000,
    "block range is larger than max block range, block range = 5120, max block range = 5000",
    { kind: "too large", maxBlocks: 5000 },
  ],
  [-32_614, "eth_getLogs is limited to a 10,000 range", { kind: "too large", maxBlocks: 10_000 }],
  [-32_000, "exceed maximum block range: 50000", { kind: "too large", maxBlocks: 50_000 }],
  [35, "ranges over 10000 blocks are not supported on freetier", { kind: "too large", maxBlocks: 10_000 }],
  [-32_602, "eth_getLogs range is too large, max is 1k blocks", { kind: "too large", maxBlocks: 1000 }],
  [-32_602, "Maximum allowed number of requested blocks is 3500", { kind: "too large", maxBlocks: 3500 }],
  [
    -32_602,
    "query exceeds max results 20000, retry with the range 100-250",
    {
      kind: "too large",
      maxLogs: 20_000,
      upTo: 250,
    },
  ],
  [-32_000, "logs matched by query exceeds limit of 10000", { kind: "too large", maxLogs: 10_000 }],
  [-32_000, "backend response too large", { kind: "too large" }],
  [-32_008, "Response is too big Exceeded max limit of 83886080", { kind: "too large" }],
  [-32_000, "query timeout exceeded", { kind: "too large" }],
  [-32_002, "request timed out", { kind: "too large" }],
  [-32_005, "daily request count exceeded, request rate limited", { kind: "rate limit" }],
  [
    429,
    "Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.",
    { kind: "rate limit" },
  ],
  [
    -32_007,
    "50/second request limit reached - reduce calls per second or upgrade your account",
    { kind: "rate limit" },
  ],
  [-32_005, "project ID request rate exceeded", { kind: "rate limit" }],
  [-32_005, "You've exceeded the RPS limit available on the current plan.", { kind: "rate limit" }],
  [15, "Too many request, try again later", { kind: "rate limit" }],
  [-32_000, "requested too many blocks from 1 to 5000, maximum is set to 2048", { kind: "too large", maxBlocks: 2048 }],
  [-32_600, "batch size too large", { kind: "batch too large" }],
  [-32_600, "batch of more than 3 requests are not allowed on free tier", { kind: "batch too large" }],
  [-32_600, "Block range exceeds the range allowed for your plan (5000 > 500)", { kind: "too large", maxBlocks: 500 }],
  [
    -32_047,
    "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800",
    { kind: "too large", maxBlocks: 800 },
  ],
  [-32_602, "query block range exceeds server limit, narrow your filter: 1000", { kind: "too large", maxBlocks: 1000 }],
  [-32_000, "query returns too many logs, narrow your filter: 20000", { kind: "too large", maxLogs: 20_000 }],
  [-32_005, "Too many logs requested. Max logs per response is 20000.", { kind: "too large", maxLogs: 20_000 }],
  [-32_005, "Requested range exceeds maximum RPC range limit", { kind: "too large" }],
  [-32_000, "query must be smaller than size 1024", { kind: "too large" }],
  [-32_005, "Number of requests exceeds max batch size", { kind: "batch too large" }],
  [-32_602, "exceed max addresses or topics per search position", { kind: "too many addresses" }],
  [-32_000, "please specify less number of address in the getLogs query", { kind: "too many addresses" }],
  [-32_602, "This query contains 5006 filters. The current limit is 5000.", { kind: "too many addresses" }],
  [
    -32_602,
    "1002 address and topic selectors specified in query, but only 500 are allowed",
    { kind: "too many addresses" },
  ],
  [-32_005, "Too many requests from your IP address", { kind: "rate limit" }],
  [-32_000, "header not found", { kind: "other" }],
  [4444, "pruned history unavailable", { kind: "other" }],
];

test.each(cases)("%i %s", (code, message, expected) => {
  expect(classifyError({ code, message })).toMatchObject(expected);
});
