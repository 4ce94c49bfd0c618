import { expect, test } from "vitest";
import { describeFault } from "./order-fault.ts";

test.each([
  [{ kind: "several units", units: 2n, orderType: 1 }, /2 units of one ERC-721 token\. Expected 1\.$/],
  [{ kind: "units not one by one", units: 3n, orderType: 2 }, /3 ERC-721 tokens .* orderType is 2\. Expected 1 or 3/],
  [{ kind: "units not divisible", units: 7n, orderType: 1 }, /7 ERC-721 tokens, one by one\. .* multiples of 7\.$/],
  [{ kind: "token to nobody" }, /to the zero address, .* Expected another recipient\.$/],
  [{ kind: "native offer" }, /in the chain's own currency, .* Expected a token/],
  [{ kind: "money with id", itemType: 1, id: 9n }, /itemType 1 is 9\. Expected 0/],
  [{ kind: "native with token", token: "0x33" }, /itemType 0 is 0x33\. Expected the zero address/],
  [{ kind: "currency without token" }, /itemType 1 is the zero address\. Expected a token/],
  [{ kind: "currency of Blur" }, /Blur's pool, .* Expected another token/],
  [{ kind: "change too long", seconds: 4n }, /over 4 seconds, .* Expected an earlier endTime/],
  [{ kind: "change too late", endTime: 2n ** 53n }, /second 9007199254740992, .* 9007199254740991 at most/],
  [{ kind: "no zone", orderType: 3 }, /orderType is 3 and its zone .* Expected a zone, or orderType 1\.$/],
] as const)("%o is told with what is expected", (fault, text) => {
  expect(describeFault(fault)).toMatch(text);
});
