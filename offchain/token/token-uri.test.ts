import { describe, expect, test } from "vitest";
import { address, CHAIN_ID, createFakeCalls, type FakeContract } from "../../test/tokens.ts";
import type { ReadCalls } from "../chain/call.ts";
import { fillInId, hexTokenIdOf, readTokenUris } from "./token-uri.ts";

const token = (fields: object = {}) => ({
  contract_address: address(1),
  token_id: "42",
  standard: "ERC721",
  uri_function: null,
  ...fields,
});

async function read(contract: FakeContract, ...tokens: ReturnType<typeof token>[]) {
  const asked: string[] = [];
  const calls = createFakeCalls({ [address(1)]: (name, args) => (asked.push(name), contract(name, args)) });
  const results = await readTokenUris(calls, { chainId: CHAIN_ID, tokens: tokens.length > 0 ? tokens : [token()] });
  return {
    results: results.map((result) =>
      result.kind === "uri" ? result.uri : "code" in result ? result.code : result.kind,
    ),
    asked,
    functions: results.map((result) => (result.kind === "uri" ? result.uriFunction : null)),
  };
}

describe("which function is asked", () => {
  const only =
    (wanted: string): FakeContract =>
    (name) =>
      name === wanted ? `https://a.example/${wanted}/` : undefined;

  test.each([
    ["ERC721", "tokenURI", "https://a.example/tokenURI/", ["tokenURI"]],
    ["ERC721", "uri", "https://a.example/uri/", ["tokenURI", "uri"]],
    ["ERC721", "baseURI", "https://a.example/baseURI/42", ["tokenURI", "uri", "baseURI"]],
    ["ERC1155", "uri", "https://a.example/uri/", ["uri"]],
    ["ERC1155", "tokenURI", "https://a.example/tokenURI/", ["uri", "tokenURI"]],
  ])("%s that has %s", async (standard, has, uri, order) => {
    const { results, asked, functions } = await read(only(has), token({ standard }));
    expect({ results, asked, functions }).toEqual({ results: [uri], asked: order, functions: [has] });
  });

  test("what worked before is asked along with the standard's own, which counts where it answers", async () => {
    const both: FakeContract = (name) => (name === "baseURI" ? undefined : `https://a.example/${name}`);
    expect(await read(only("uri"), token({ uri_function: "uri" }))).toMatchObject({
      results: ["https://a.example/uri/"],
      asked: ["tokenURI", "uri"],
    });
    expect(await read(both, token({ uri_function: "uri" }))).toMatchObject({
      results: ["https://a.example/tokenURI"],
      functions: ["tokenURI"],
    });
    expect(await read(only("tokenURI"), token({ standard: "ERC1155", uri_function: "tokenURI" }))).toMatchObject({
      results: ["https://a.example/tokenURI/"],
      asked: ["uri", "tokenURI"],
    });
    expect(await read(both, token({ standard: "ERC1155", uri_function: "tokenURI" }))).toMatchObject({
      results: ["https://a.example/uri"],
    });
    for (const uri_function of ["tokenURI", "uri"])
      expect(await read(() => undefined, token({ uri_function }))).toMatchObject({
        results: ["revert"],
        asked: ["tokenURI", "uri", "baseURI"],
      });
  });

  test("a base that answers for all tokens is never asked before a token's own URI", async () => {
    const both: FakeContract = (name, [id]) => (name === "baseURI" ? "b/" : id === 1n ? undefined : `u${String(id)}`);
    const tokens = ["1", "2"].map((token_id) => token({ token_id, uri_function: "baseURI" }));
    expect((await read(both, ...tokens)).results).toEqual(["b/1", "u2"]);
  });
});

test("a revert, an empty text and a fault of the node are different failures", async () => {
  expect((await read(() => undefined)).results).toEqual(["revert"]);
  expect((await read(() => " ")).results).toEqual(["no_uri"]);
  expect((await read((name) => (name === "tokenURI" ? "" : undefined))).results).toEqual(["no_uri"]);
  expect((await read((name) => (name === "uri" ? "" : undefined))).results).toEqual(["no_uri"]);
  expect((await read((name) => ({ tokenURI: "", uri: "https://a.example/u" })[name])).results).toEqual([
    "https://a.example/u",
  ]);
  const down: ReadCalls = async (calls) => calls.map(() => ({ kind: "fault", message: "down" }));
  expect(await readTokenUris(down, { chainId: CHAIN_ID, tokens: [token()] })).toMatchObject([{ code: "rpc" }]);
  const untried: ReadCalls = async (calls) => calls.map(() => ({ kind: "fault", message: "slow", againSeconds: 9 }));
  expect(await readTokenUris(untried, { chainId: CHAIN_ID, tokens: [token()] })).toEqual([
    { kind: "postponed", seconds: 9, host: "" },
  ]);
  const odd: ReadCalls = async (calls) => calls.map(() => ({ kind: "data", data: Buffer.alloc(64, 255) }));
  expect(await readTokenUris(odd, { chainId: CHAIN_ID, tokens: [token()] })).toMatchObject([{ code: "bad_answer" }]);
  const large: ReadCalls = async (calls) => calls.map(() => ({ kind: "data", data: Buffer.alloc(8_000_000) }));
  expect(await readTokenUris(large, { chainId: CHAIN_ID, tokens: [token()] })).toMatchObject([{ code: "too_large" }]);
});

test("a revert is told with what the first function does", async () => {
  const messages = ["reverts: out of gas", "returns nothing.", "reverts."];
  const calls: ReadCalls = async () => [{ kind: "none", message: messages.shift()! }];
  const result = await readTokenUris(calls, { chainId: CHAIN_ID, tokens: [token()] });
  expect(result).toMatchObject([{ code: "revert", message: "tokenURI reverts: out of gas" }]);
});

test("one that reverts says nothing of the others in its batch", async () => {
  const tokens = ["1", "2", "3"].map((token_id) => token({ token_id, uri_function: "tokenURI" }));
  expect((await read((_, [id]) => (id === 1n || id === 3n ? `u${id}` : undefined), ...tokens)).results).toEqual([
    "u1",
    "revert",
    "u3",
  ]);
});

test("contracts without URIs have a table instead of code", async () => {
  const punk = token({ standard: "CRYPTOPUNKS", token_id: "7804" });
  const [uri] = (await read(() => undefined, punk)).results;
  expect(JSON.parse(uri!.split(/,(.*)/s)[1]!)).toMatchObject({
    name: "CryptoPunk #7804",
    image: expect.stringContaining("7804") as string,
  });
  const kitty = {
    ...token({ token_id: "5" }),
    contract_address: "0x06012c8cf97bead5deae237070f9587f8e7a266d" as const,
  };
  expect(await readTokenUris(createFakeCalls({}), { chainId: 1, tokens: [kitty] })).toMatchObject([
    { uri: "https://api.cryptokitties.co/kitties/5" },
  ]);
  expect(await readTokenUris(createFakeCalls({}), { chainId: CHAIN_ID, tokens: [kitty] })).toMatchObject([
    { code: "revert" },
  ]);
});

test.each([
  ["hex64", "42", "https://a.example/000000000000000000000000000000000000000000000000000000000000002a.json"],
  ["decimal", "42", "https://a.example/42.json"],
  ["hex", "42", "https://a.example/0x2a.json"],
  ["hex64", (2n ** 256n - 1n).toString(), `https://a.example/${"f".repeat(64)}.json`],
  ["decimal", (2n ** 53n + 1n).toString(), "https://a.example/9007199254740993.json"],
] as const)("{id} as %s of %s", (form, tokenId, uri) => {
  for (const template of ["https://a.example/{id}.json", "https://a.example/%7Bid%7D.json"])
    expect(fillInId(template, { tokenId, form })).toBe(uri);
  expect(fillInId("{id}/{id}", { tokenId, form }).split("/")).toHaveLength(2);
});

test("{id} in a document means something in the standard only that says so", () => {
  expect(hexTokenIdOf({ token_id: "42", standard: "ERC1155" })).toBe("2a".padStart(64, "0"));
  for (const standard of ["ERC721", null]) expect(hexTokenIdOf({ token_id: "42", standard })).toBeUndefined();
});
