import { expect, test } from "vitest";
import { toHttpError } from "./errors.ts";

test("a database without a connection left is not one that is gone", () => {
  const told = (code: string) => toHttpError(Object.assign(new Error("sorry"), { code }))?.message;
  expect(told("53300")).toBe("The database takes no more connections.");
  expect(told("53100")).toBe("The database is unreachable.");
});
