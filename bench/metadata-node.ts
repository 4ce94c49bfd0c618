import type { Hex } from "viem";
import { MULTICALL3_ADDRESS } from "../abis/multicall3.ts";
import { word } from "../offchain/chain/word.ts";
import { serveCalls } from "../test/node-server.ts";
import type { Origin } from "../test/origin.ts";

/** The token URI that a contract gives. */
type UriOf = (contract: Hex, tokenId: string) => string;

type Request = { id: unknown; method: string; params: [{ to: Hex; data: Hex }] };

/**
 * A node that answers `tokenURI`, also through Multicall3, and nothing else. All by hand: it shares the machine with what is
 * measured, and a general decoder took more of it than the worker's own reading.
 */
export function serveTokenUris(uriOf: UriOf): Promise<Origin> {
  return serveCalls(({ id, method, params: [call] }: Request) => {
    if (method === "eth_getCode") return { jsonrpc: "2.0", id, result: "0x01" };
    if (method !== "eth_call") return { jsonrpc: "2.0", id, error: { code: 3, message: "execution reverted" } };
    // The last token of a queue may come alone, and is then asked for without Multicall3.
    const result = call.to === MULTICALL3_ADDRESS ? aggregate(call.data, uriOf) : tokenUri(call, uriOf);
    return { jsonrpc: "2.0", id, result: `0x${result}` };
  });
}

/** What aggregate3 returns, in hex without 0x. Source: Multicall3, and the ABI of its `(address, bool, bytes)[]`. */
function aggregate(data: Hex, uriOf: UriOf): string {
  const text = data.slice(2 + 8);
  const wordAt = (byte: number) => Number(`0x${text.slice(byte * 2, byte * 2 + 64)}`);
  const calls = wordAt(0);
  const count = wordAt(calls);
  const offsets: string[] = [];
  const results: string[] = [];
  let at = count * 32;
  for (let i = 0; i < count; i++) {
    const call = calls + 32 + wordAt(calls + 32 + i * 32);
    // The call's bytes, after their length.
    const bytes = (call + wordAt(call + 64) + 32) * 2;
    const to: Hex = `0x${text.slice(call * 2 + 24, call * 2 + 64)}`;
    const answer = tokenUri({ to, data: `0x${text.slice(bytes, bytes + 72)}` }, uriOf);
    const result = word(1) + word(64) + word(answer.length / 2) + answer;
    offsets.push(word(at));
    results.push(result);
    at += result.length / 2;
  }
  return word(32) + word(count) + offsets.join("") + results.join("");
}

/** What `tokenURI` returns, in hex without 0x. */
function tokenUri({ to, data }: { to: Hex; data: Hex }, uriOf: UriOf): string {
  // After the function's selector.
  const tokenId = BigInt(`0x${data.slice(10)}`).toString();
  const uri = Buffer.from(uriOf(to, tokenId));
  return word(32) + word(uri.length) + uri.toString("hex").padEnd(Math.ceil(uri.length / 32) * 64, "0");
}
