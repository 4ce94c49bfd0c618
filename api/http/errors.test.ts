import { expect, test } from "vitest";
import { toHttpError } from "./errors.ts";

const told = (code: string, syscall?: string) =>
  toHttpError(Object.assign(new Error("sorry"), { code, syscall }))?.message;

test("a database without a connection left is not one that is gone", () => {
  expect(told("53300")).toBe("The database takes no more connections.");
  expect(told("53100")).toBe("The database is unreachable.");
});

test("a database that is gone, starts, ends or can't be written is unreachable; another fault is ours", () => {
  const gone = ["08006", "25006", "28P01", "3D000", "57P01", "57P03", "58030", "CONNECTION_CLOSED", "CONNECT_TIMEOUT"];
  const network = ["ECONNRESET", "ENOTFOUND", "EAI_AGAIN", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"];
  for (const code of [...gone, ...network]) expect([code, told(code)]).toEqual([code, "The database is unreachable."]);
  for (const code of ["22P02", "23505", "42703", "57000", "ENOENT", ""])
    expect([code, told(code)]).toEqual([code, undefined]);
  expect(told("ENOENT", "connect")).toBe("The database is unreachable.");
});
