import * as viemChains from "viem/chains";
import { expect, test } from "vitest";
import { blockExplorerUrl, chainName, nativeSymbol } from "./chain.ts";

/** viem writes it in other letters, and a test network's with a t before it. */
const OUR_SYMBOLS: Record<string, string> = { XDAI: "xDAI", tBNB: "BNB" };

test("chains have the names, currencies and block explorers that viem knows", () => {
  const theirs = new Set(
    Object.values(viemChains).map(({ id, name, nativeCurrency: { symbol }, blockExplorers }) =>
      JSON.stringify([
        id,
        name,
        OUR_SYMBOLS[symbol] ?? symbol,
        blockExplorers && `${blockExplorers.default.url.replace(/\/$/, "")}/tx/0x1`,
      ]),
    ),
  );
  const ids = new Set(Object.values(viemChains).map(({ id }) => id as number));
  const ours = [...ids]
    .filter((id) => id !== 31337 && chainName(id) !== `Chain ${id}`)
    .map((id) => JSON.stringify([id, chainName(id), nativeSymbol(id), blockExplorerUrl(id, "tx/0x1")]));
  expect(ours.length).toBeGreaterThan(30);
  expect(ours.filter((one) => !theirs.has(one))).toEqual([]);
});

test("a chain that isn't known is called by its id, pays in ETH, and has no block explorer", () => {
  expect([chainName(4242), nativeSymbol(4242), blockExplorerUrl(4242, "tx/0x1")]).toEqual([
    "Chain 4242",
    "ETH",
    undefined,
  ]);
});
