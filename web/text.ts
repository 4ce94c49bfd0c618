import { html } from "hono/html";
import { zeroAddress } from "viem";
import type { Html } from "./html.ts";

/** Writes values for people. */

/** Digits in groups of three: 1,234,567. */
const grouped = new Intl.NumberFormat("en-US");
/** A count with its digits in groups of three. */
export const formatCount = (count: number | bigint) => grouped.format(count);

/** Numbers with more digits are shown like 1.15e77: they are jokes, and would push everything else off a page. */
const MAX_DIGITS = 15;
/** A count in groups of three, or as 1.15e77 where it has too many digits. */
export function shortenCount(count: bigint): string {
  const digits = count.toString();
  return digits.length > MAX_DIGITS ? `${digits[0]}.${digits.slice(1, 3)}e${digits.length - 1}` : formatCount(count);
}

/** A count of units, given as a row's text. If it is shortened, its title has all digits. */
export function renderUnits(count: string): Html | string {
  const [shown, whole] = [shortenCount(BigInt(count)), formatCount(BigInt(count))];
  return shown === whole ? shown : html`<span title="${whole}">${shown}</span>`;
}

/** A rate or a length of time to three digits. */
const short = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });
/** A rate or a length of time to three digits. */
export const formatNumber = (value: number) => short.format(value);

/** Whether an address is the zero address. */
export const isZero = (address: string) => address === zeroAddress;

/** Whether an owner is nobody: the zero address, or empty where no unit of an ERC-1155 token is left. */
export const isNobody = (address: string) => address === "" || isZero(address);

/** 0x1234…abcd */
export const shorten = (hex: string) => (hex.length > 14 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex);

/** A token id that may have 78 digits. */
export const shortenId = (id: string) => (id.length > 12 ? `${id.slice(0, 5)}…${id.slice(-4)}` : id);

/**
 * Characters that are invisible or change the direction of text, except joiners within an emoji, the tags of a flag such
 * as Scotland's, and joiners that shape letters of Arabic and Indic scripts.
 */
const HIDDEN =
  /(?!(?<=\p{Extended_Pictographic}[\uFE0F\p{Emoji_Modifier}]?)\u200D\p{Extended_Pictographic}|(?<=\u{1F3F4}[\u{E0061}-\u{E007A}]{0,5})[\u{E0061}-\u{E007A}]|(?<=\u{1F3F4}[\u{E0061}-\u{E007A}]{4,6})\u{E007F}|(?<=[\p{Script=Arabic}\p{M}])[\u200C\u200D]\p{L})\p{Cf}/gu;

/** A text without them. It takes time by its length. */
export const withoutHidden = (text: string): string => text.replaceAll(HIDDEN, "");

/** Text that shows nothing, including letters that look empty (the filler of Hangul, the empty Braille cell). */
const BLANK = /^[\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** Somebody else's text on one line: without line breaks, cut to `length`, and empty if it would show nothing. */
export function oneLine(text: string, length = 80): string {
  const line = withoutHidden(startOf(text, length))
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .trim();
  return BLANK.test(line) ? "" : cut(line, length);
}

/** Somebody else's text with its paragraphs, empty if it would show nothing. */
export function paragraphs(text: string, length: number): string {
  const calm = withoutHidden(startOf(text, length)).replaceAll(/[^\P{Cc}\n]+/gu, " ");
  return BLANK.test(calm) ? "" : cut(calm, length).replaceAll(/\n{3,}/g, "\n\n");
}

/** What is looked at for so many characters that show: documents have millions, which would take a second. */
const startOf = (text: string, length: number) => text.slice(0, length * 8);

/** Cuts text without splitting a character, and leaves at most eight marks on one letter. */
function cut(text: string, length: number): string {
  const calm = text.replaceAll(/(\p{M}{8})\p{M}+/gu, "$1");
  return calm.length > length ? `${calm.slice(0, length).replace(/[\uD800-\uDBFF]$/, "")}…` : calm;
}

const UNITS = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
] as const;

/** 4 s, 12 min, 3 h, 40 d */
export function formatDuration(seconds: number): string {
  const rounded = Math.max(0, Math.round(seconds));
  const [size, unit] = UNITS.find(([size]) => rounded >= size) ?? [1, "s"];
  return `${formatCount(Math.floor(rounded / size))} ${unit}`;
}

/** The last second that a JavaScript Date can hold. Orders may end later. */
const LAST_SECOND = 8.64e12;

/** Moments that are so many seconds old are shown by date instead of age. */
const DATES_FROM_SECONDS = 30 * 86_400;

/** A moment, as how long ago it is or as its date in UTC. The page's script keeps it up to date. */
export function renderTime(unixSeconds: number): Html {
  if (unixSeconds > LAST_SECOND) return html`never`;
  const iso = new Date(unixSeconds * 1000).toISOString();
  const age = Date.now() / 1000 - unixSeconds;
  const [date = "", time = ""] = iso.slice(0, -5).split("T");
  const near = age >= 0 ? `${formatDuration(age)} ago` : `in ${formatDuration(-age)}`;
  const text = Math.abs(age) < DATES_FROM_SECONDS ? near : date;
  return html`<time datetime="${iso}" title="${date} ${time} UTC">${text}</time>`;
}

/** The same for a Date, as our own tables have them. */
export const renderDate = (date: Date): Html => renderTime(Math.floor(date.getTime() / 1000));
