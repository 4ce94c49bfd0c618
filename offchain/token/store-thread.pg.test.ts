import { expect, test } from "vitest";
import { address, CHAIN_ID } from "../../test/tokens.ts";
import { type FoundToken, startStoreThread } from "./store-thread.ts";

const found: FoundToken = {
  token: {
    contract_address: address(1),
    token_id: "1",
    attempts: 1,
    token_uri: "",
    is_fetched: false,
    counted_as: "new",
    error_code: null,
    error_host: null,
    standard: "ERC721",
    uri_function: null,
    id_form: null,
  },
  uri: "https://example.com/1",
  found: {
    kind: "bytes",
    bytes: Buffer.from('{"name":"one"}'),
    contentType: "application/json",
    base: "https://example.com/1",
    from: "https://example.com/1",
    isAuthentic: false,
  },
};

test("what can't be stored is said of its batch, and the thread goes on and ends", async () => {
  const thread = startStoreThread({ databaseUrl: "postgres://nobody@127.0.0.1:1/none", connection: {} });
  const batch = { chainId: CHAIN_ID, tokens: [found] };
  await expect(thread.store(batch)).rejects.toThrow("ECONNREFUSED");
  await expect(Promise.allSettled([thread.store(batch), thread.store(batch)])).resolves.toMatchObject([
    { status: "rejected" },
    { status: "rejected" },
  ]);
  await thread.close();
});

test("a thread that isn't needed isn't started", async () => {
  await expect(startStoreThread({ databaseUrl: "", connection: {} }).close()).resolves.toBeUndefined();
});
