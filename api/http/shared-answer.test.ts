import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createSharing } from "./shared-answer.ts";

/** Loads that end when told to, numbered from 1. */
function createLoads() {
  const begun: PromiseWithResolvers<string>[] = [];
  return {
    load: () => {
      begun.push(Promise.withResolvers<string>());
      return begun.at(-1)!.promise;
    },
    count: () => begun.length,
    end: (number: number) => begun[number - 1]!.resolve(String(number)),
    fail: (number: number) => begun[number - 1]!.reject(new Error(`number ${number} failed`)),
  };
}

test("equal requests share what is begun after they came, and never what was begun before", async () => {
  const share = createSharing();
  const { load, count, end } = createLoads();
  const answers = Array.from({ length: 10 }, () => share("a", load));
  // Two are running. All others wait until one of these has ended.
  expect(count()).toBe(2);
  end(2);
  await nextTurn();
  expect(count()).toBe(3);
  // This one came after the third was begun.
  const late = share("a", load);
  end(1);
  await nextTurn();
  expect(count()).toBe(4);
  end(3);
  end(4);
  expect(await Promise.all(answers)).toEqual(["1", "2", ...Array.from({ length: 8 }, () => "3")]);
  expect(await late).toBe("4");
  expect(count()).toBe(4);
});

test("other requests neither share nor wait", async () => {
  const share = createSharing();
  const { load, count, end } = createLoads();
  const answers = ["a", "a", "b", "c", "b", "d"].map((key) => share(key, load));
  expect(count()).toBe(6);
  for (const number of [1, 2, 3, 4, 5, 6]) end(number);
  expect(await Promise.all(answers)).toEqual(["1", "2", "3", "4", "5", "6"]);
});

test("a failure is said to those who share it, and those who wait are answered", async () => {
  const share = createSharing();
  const { load, count, end, fail } = createLoads();
  const answers = Promise.allSettled(Array.from({ length: 5 }, () => share("a", load)));
  fail(1);
  await nextTurn();
  const more = Promise.allSettled([share("a", load)]);
  fail(3);
  await nextTurn();
  expect(count()).toBe(4);
  end(2);
  end(4);
  const [first, second, ...shared] = await answers;
  expect([first!.status, second!.status]).toEqual(["rejected", "fulfilled"]);
  expect(shared.map((result) => result.status === "rejected" && String(result.reason))).toEqual(
    Array.from({ length: 3 }, () => "Error: number 3 failed"),
  );
  expect(await more).toEqual([{ status: "fulfilled", value: "4" }]);
});

test("a load that throws at once is a failure too", async () => {
  const share = createSharing();
  const broken = () => {
    throw new Error("no");
  };
  await expect(share("a", broken)).rejects.toThrow("no");
  expect(await share("a", () => "fine")).toBe("fine");
});
