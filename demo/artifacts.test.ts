import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ARTIFACTS_PATH, compileContracts } from "./compile.ts";

test("artifacts.json is what the compiler makes of the contracts", () => {
  const isFresh = readFileSync(ARTIFACTS_PATH, "utf8") === compileContracts();
  expect(isFresh, "Run `npx node demo/compile.ts` and commit demo/artifacts.json.").toBe(true);
});
