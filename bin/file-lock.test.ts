import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tryLock } from "./file-lock.ts";

test("a file that can't be locked is named, with what is expected of its disk", () => {
  const file = join(tmpdir(), "nowhere", "lock");
  expect(() => tryLock(file, "exclusive")).toThrow(
    `${file} can't be locked (unable to open database file). Expected a disk that has room and takes locks.`,
  );
});

test("a lock is taken and given up without room on the disk: it writes nothing, and no file beside it", () => {
  const folder = mkdtempSync(join(tmpdir(), "nft-index-lock-"));
  const file = join(folder, "lock");
  try {
    const lock = tryLock(file, "exclusive");
    expect(tryLock(file, "exclusive")).toBeUndefined();
    expect(tryLock(file, "shared")).toBeUndefined();
    expect(readdirSync(folder)).toEqual(["lock"]);
    lock?.release();
    expect(statSync(file).size).toBe(0);
    const [first, second] = [tryLock(file, "shared"), tryLock(file, "shared")];
    expect(tryLock(file, "exclusive")).toBeUndefined();
    first?.release();
    second?.release();
    expect(tryLock(file, "exclusive")?.release()).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
