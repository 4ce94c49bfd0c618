import { expect, test, vi } from "vitest";
import { printTable } from "./table.ts";

test("a list of any length stands in columns", () => {
  const lines: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
  try {
    const rows = Array.from({ length: 200_000 }, () => ["app", "active"]);
    printTable(["NAME", "STATE"], [...rows, ["longest", "revoked"]]);
  } finally {
    log.mockRestore();
  }
  expect(lines).toHaveLength(200_002);
  expect([...new Set(lines)]).toEqual(["NAME     STATE", "app      active", "longest  revoked"]);
});
