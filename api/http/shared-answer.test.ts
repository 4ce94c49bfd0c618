import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { giveMemory, takeMemory } from "./body-memory.ts";
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

test("no more than two are made at once, also where one of these ends before others come", async () => {
  const share = createSharing();
  const { load, count, end } = createLoads();
  const answers = [share("a", load), share("a", load)];
  end(1);
  await nextTurn();
  answers.push(share("a", load), share("a", load), share("a", load));
  expect(count()).toBe(3);
  for (const number of [2, 3]) end(number);
  await nextTurn();
  expect(count()).toBe(4);
  end(4);
  expect(await Promise.all(answers)).toEqual(["1", "2", "3", "4", "4"]);
  // All have ended: the next two are begun at once.
  answers.push(share("a", load), share("a", load));
  expect(count()).toBe(6);
  for (const number of [5, 6]) end(number);
  await Promise.all(answers);
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

test("the memory of an answer that several read is used anew when the last of them has given it back", async () => {
  const share = createSharing();
  const bytes = 2 ** 18;
  // What other tests of this process gave back would leave no room.
  for (let n = 0; n < 128; n++) takeMemory(bytes);
  const [first, second, ...shared] = Array.from({ length: 5 }, () => share("a", async () => takeMemory(bytes)));
  const bodies = (await Promise.all(shared)) as Buffer[];
  expect(new Set(bodies.map(({ buffer }) => buffer)).size).toBe(1);
  const isUsedAnew = () => takeMemory(bytes).buffer === bodies[0]!.buffer;
  const used = bodies.map((body) => {
    giveMemory(body);
    return isUsedAnew();
  });
  expect(used).toEqual([false, false, true]);
  // Each of these has a reader of its own.
  for (const own of [await first, await second] as Buffer[]) {
    giveMemory(own);
    expect(takeMemory(bytes).buffer).toBe(own.buffer);
  }
});
