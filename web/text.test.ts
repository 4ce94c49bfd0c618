import { describe, expect, test } from "vitest";
import { oneLine, paragraphs } from "./text.ts";

describe("somebody else's text on one line", () => {
  test.each([
    ["lines\nand\u2028lines", "lines and lines"],
    ["\u202Eexe.gnp\u2066", "exe.gnp"],
    ["zero\u200Bwidth\uFEFF", "zerowidth"],
    ["a\u200Db", "ab"],
    ["👨‍👩‍👧‍👦 of 👩🏽‍🚀 and ❤️‍🔥", "👨‍👩‍👧‍👦 of 👩🏽‍🚀 and ❤️‍🔥"],
    ["می‌خواهم", "می‌خواهم"],
    ["क्‍ष", "क्‍ष"],
    [`Z${"\u0300".repeat(500)}`, `Z${"\u0300".repeat(8)}`],
    ["x".repeat(200), `${"x".repeat(80)}…`],
  ])("%j", (text, expected) => {
    expect(oneLine(text)).toBe(expected);
  });

  test.each(["", " \n\t", "\u200B\u200D", "\u3164", "\u2800 \u2800", "\u034F\u0300", "\uFE0F", "\u{E0041}", "\uE000"])(
    "%j shows nothing: it is empty",
    (text) => {
      expect(oneLine(text)).toBe("");
    },
  );
});

test("paragraphs stay, and emoji of several parts", () => {
  expect(paragraphs("one\r\n\n\n\n\ntwo \u202Eowt 👩‍🚀", 100)).toBe("one \n\ntwo owt 👩‍🚀");
});
