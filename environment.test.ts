import { expect, test } from "vitest";
import { listIdleLines, listUnknownNames } from "./environment.ts";

test("names that nothing reads are told where they look like ours", () => {
  const env = { MAINNET_CONTRACT: "0x", TESTNET_RPC: "", MAINNET_RPC_URL: "http://a", TESTNET_HOST: "a", PATH: "/bin" };
  expect(listUnknownNames(env)).toEqual(["MAINNET_CONTRACT", "TESTNET_RPC"]);
});

test("lines of a .env that set nothing are told, those in quotes and comments aren't", () => {
  const text = [
    "# MAINNET",
    "MAINNET_CONTRACTS 0x",
    "",
    "export PORT=1",
    "PORT: 2\r",
    "\r",
    '  A="one',
    "two",
    "# three'",
    '"',
    "export B",
    "C='it' # is",
    "D",
  ];
  expect(listIdleLines(text.join("\n"))).toEqual([2, 5, 11, 13]);
});
