import { describe, expect, test } from "vitest";
import { oneLine, paragraphs, renderTime } from "./text.ts";

describe("somebody else's text on one line", () => {
  test.each([
    ["lines\nand\u2028lines", "lines and lines"],
    ["\u202Eexe.gnp\u2066", "exe.gnp"],
    ["zero\u200Bwidth\uFEFF", "zerowidth"],
    ["a\u200Db", "ab"],
    ["👨‍👩‍👧‍👦 of 👩🏽‍🚀 and ❤️‍🔥", "👨‍👩‍👧‍👦 of 👩🏽‍🚀 and ❤️‍🔥"],
    [
      "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}!",
      "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}!",
    ],
    ["a\u{E0067}\u{E0062}🏴\u{E007F}🏴b\u{E0068}", "a🏴🏴b"],
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

test.each([
  [-150, /^2 min ago$/],
  [-3 * 3600, /^3 h ago$/],
  [29.5 * 86_400, /^in 29 d$/],
  [-30 * 86_400, /^\d{4}-\d\d-\d\d$/],
  [31 * 86_400, /^\d{4}-\d\d-\d\d$/],
])("a moment %i seconds from now", async (seconds, expected) => {
  const markup = String(await renderTime(Math.floor(Date.now() / 1000) + seconds));
  expect(markup.replaceAll(/<[^>]*>/g, "")).toMatch(expected);
});

test("the last moments that there are have their whole year", async () => {
  expect(String(await renderTime(8.64e12))).toBe(
    '<time datetime="+275760-09-13T00:00:00.000Z" title="+275760-09-13 00:00:00 UTC">+275760-09-13</time>',
  );
});

test("paragraphs stay, and emoji of several parts", () => {
  expect(paragraphs("one\r\n\n\n\n\ntwo \u202Eowt 👩‍🚀", 100)).toBe("one \n\ntwo owt 👩‍🚀");
  expect(paragraphs(" \u200B\n\n\u00A0", 100)).toBe("");
});

test("of a long text only the start is looked at", () => {
  const long = "a\u200Bb\u0001".repeat(1_000_000);
  expect(oneLine(long, 5)).toBe("ab ab…");
  expect(paragraphs(long, 5)).toBe("ab ab…");
  // What shows nothing for so long isn't waited for.
  expect(oneLine(`${"\u200B".repeat(1000)}late`, 5)).toBe("");
});
