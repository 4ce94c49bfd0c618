import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { createKeptLists } from "./kept-list.ts";

const now = performance.now.bind(performance);
afterEach(() => void (performance.now = now));

test.each([
  { what: "hold nothing", weight: 0, lists: 110_000 },
  { what: "hold much", weight: 500_000, lists: 5 },
])("of many lists that $what the oldest is dropped, however long it took to make", async ({ weight, lists }) => {
  let ms = 0;
  performance.now = () => ms;
  const getList = createKeptLists<null>({ sizeOf: () => 5000, weightOf: () => weight });
  const made: number[] = [];
  const ask = (n: number) =>
    getList(String(n), async () => {
      made.push(n);
      ms += n === 0 ? 1e9 : 1;
      return null;
    });
  for (let n = 0; n < lists; n++) await ask(n);
  made.length = 0;
  for (const n of [lists - 1, lists - 2, 0]) await ask(n);
  expect(made).toEqual([0]);
});

/** A cache of lists of `entries` entries, each of which takes `loadMs` by a clock that is set by hand. */
function createLists({ entries = 5000, loadMs = 10 } = {}) {
  const clock = { ms: 0 };
  performance.now = () => clock.ms;
  const getList = createKeptLists<number>({ sizeOf: () => entries, weightOf: () => entries });
  let made = 0;
  /** Ends the list that is being made, once it has begun. */
  let end = (_error?: Error): void => {};
  const load = () => {
    made += 1;
    const number = made;
    return new Promise<number>((resolve, reject) => {
      end = (error) => {
        clock.ms += loadMs;
        if (error) reject(error);
        else resolve(number);
      };
    });
  };
  const ask = () => getList("a", load);
  const askAndEnd = () => {
    const answer = ask();
    end();
    return answer;
  };
  return { clock, ask, askAndEnd, end: (error?: Error) => end(error), countMade: () => made };
}

test("a list is used for twenty times as long as it took, is made anew beside that, and is waited for after twice that", async () => {
  const lists = createLists({ loadMs: 10 });
  expect(await lists.askAndEnd()).toBe(1);
  lists.clock.ms += 199;
  expect(await lists.ask()).toBe(1);
  expect(lists.countMade()).toBe(1);
  lists.clock.ms += 1;
  expect(await Promise.all([lists.ask(), lists.ask()])).toEqual([1, 1]);
  expect(lists.countMade()).toBe(2);
  lists.clock.ms += 200;
  expect(await lists.ask()).toBe(1);
  lists.clock.ms += 1;
  const waiting = [lists.ask(), lists.ask()];
  lists.end();
  expect(await Promise.all(waiting)).toEqual([2, 2]);
  expect(await lists.ask()).toBe(2);
  expect(lists.countMade()).toBe(2);
});

test("a list that can't be made anew is tried again, and its failure is told to those who wait for it", async () => {
  const lists = createLists({ loadMs: 10 });
  await lists.askAndEnd();
  lists.clock.ms += 300;
  expect(await lists.ask()).toBe(1);
  lists.end(new Error("no connection"));
  await nextTurn();
  expect(await lists.ask()).toBe(1);
  lists.clock.ms += 100;
  const waiting = lists.ask();
  lists.end(new Error("no connection"));
  await expect(waiting).rejects.toThrow("no connection");
  expect(await lists.askAndEnd()).toBe(4);
});

test("a short list is always current", async () => {
  const lists = createLists({ entries: 1000 });
  for (const number of [1, 2, 3]) expect(await lists.askAndEnd()).toBe(number);
});

test("a short list is shared by those who came before it was begun, a long one also by those who came later", async () => {
  for (const [entries, numbers] of [
    [1000, [1, 2, 2]],
    [1001, [1, 1, 1]],
  ] as const) {
    const lists = createLists({ entries });
    const asked = [lists.ask(), lists.ask(), lists.ask()];
    lists.end();
    await asked[0];
    await nextTurn();
    lists.end();
    expect(await Promise.all(asked)).toEqual(numbers);
  }
});

test("a list that is larger than what is kept of all is kept while it is the only one", async () => {
  const lists = createLists({ entries: 3_000_000 });
  await lists.askAndEnd();
  expect(await lists.ask()).toBe(1);
});

test("a list that is made anew takes the place of the one before, not that of others", async () => {
  let ms = 0;
  performance.now = () => ms;
  const getList = createKeptLists<null>({ sizeOf: () => 5000, weightOf: () => 500_000 });
  const made: string[] = [];
  const ask = (key: string, loadMs: number) =>
    getList(key, async () => {
      made.push(key);
      ms += loadMs;
      return null;
    });
  await ask("kept", 1000);
  for (let turn = 0; turn < 5; turn++) {
    await ask("renewed", 1);
    ms += 100;
  }
  await ask("kept", 1000);
  expect(made).toEqual(["kept", ...Array.from({ length: 5 }, () => "renewed")]);
});
