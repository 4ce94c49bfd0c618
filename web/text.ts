import { html } from "hono/html";
import { zeroAddress } from "viem";
import type { Html } from "./html.ts";

/** How values are written for people. */

/** Numbers with thin groups: 1,234,567. */
const grouped = new Intl.NumberFormat("en-US");
export const formatCount = (count: number | bigint) => grouped.format(count);

/** A rate or a length of time to three digits. */
const short = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });
export const formatNumber = (value: number) => short.format(value);

export const isZero = (address: string) => address === zeroAddress;

/** 0x1234…abcd */
export const shorten = (hex: string) => (hex.length > 14 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex);

/** A token id that may have 78 digits. */
export const shortenId = (id: string) => (id.length > 12 ? `${id.slice(0, 5)}…${id.slice(-4)}` : id);

/** Somebody else's text on one line: no line breaks, no characters that turn others around, not endless. */
export function oneLine(text: string, length = 80): string {
  return cut(text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim(), length);
}

/** Somebody else's text with its paragraphs. */
export function paragraphs(text: string, length: number): string {
  return cut(text.replaceAll(/[\p{Cf}]/gu, "").replaceAll(/[^\P{Cc}\n]+/gu, " "), length).replaceAll(/\n{3,}/g, "\n\n");
}

/** At a character's boundary, and at most eight marks on one letter. */
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

/** The last second that a program has a date for. Orders may end later. */
const LAST_SECOND = 8.64e12;

/** A moment, with how long ago it is. The script of the page keeps that true. */
export function renderTime(unixSeconds: number): Html {
  if (unixSeconds > LAST_SECOND) return html`never`;
  const iso = new Date(unixSeconds * 1000).toISOString();
  const age = Date.now() / 1000 - unixSeconds;
  const text = age >= 0 ? `${formatDuration(age)} ago` : `in ${formatDuration(-age)}`;
  return html`<time datetime="${iso}" title="${iso.slice(0, 19).replace("T", " ")} UTC">${text}</time>`;
}

/** A date of ours. */
export const renderDate = (date: Date): Html => renderTime(Math.floor(date.getTime() / 1000));
