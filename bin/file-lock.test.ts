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
