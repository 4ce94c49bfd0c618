import { endOf } from "../text.ts";

/**
 * Links that a style sheet may have: into the drawing itself, and data: that isn't text. It is read as a picture or font,
 * whatever it is called: many have no type, or the one that a store of files gives to all.
 */
const HARMLESS_LINK = /^\s*(?:#|data:(?!text\/))/i;
/** Functions whose strings are links. */
const LINK_FUNCTIONS = new Set(["url", "src", "image", "image-set", "-webkit-image-set"]);
/** Names before a colon that run or load code in old browsers. */
const RUNNING = new Set(["behavior", "-moz-binding", "javascript", "vbscript"]);

type CssToken = {
  kind: "space" | "comment" | "string" | "url" | "function" | "at" | "name" | "other";
  /** Its text, with escapes decoded and in lower case. Empty for white space and comments. */
  value: string;
  end: number;
};

/**
 * A style sheet, or a value in CSS, without what loads or runs. A harmless one is returned unchanged. It is tokenized
 * like browsers do, because escapes, comments and strings can disguise things. Source: CSS Syntax Module Level 3.
 */
export function cleanCss(css: string): string {
  // Nearly all style sheets have none of these: a quick check.
  if (!/[\\@]|url|src|image|expression|behavior|-moz-binding|script/i.test(css)) return css;
  const pieces: string[] = [];
  let isApart = true;
  for (let at = 0; at < css.length;) {
    const token = readCssToken(css, at);
    const { end, instead } = judge(css, token);
    pieces.push(instead === undefined ? css.slice(at, end) : instead === "" && !isApart ? "/**/" : instead);
    // The two sides of a cut must not join to a new token, like @\69 and mport. Even a space would join these two.
    isApart = instead === "" || token.kind === "space" || isPunctuation(token, /[;{}]/);
    at = end;
  }
  return pieces.join("");
}

/** How far the token, or what begins with it, goes, and what replaces it if it must not stay. */
function judge(css: string, { kind, value, end }: CssToken): { end: number; instead?: string } {
  if (kind === "url" && !HARMLESS_LINK.test(value)) return { end, instead: "none" };
  if (kind === "function" && (LINK_FUNCTIONS.has(value) || value === "expression")) {
    const call = readCall(css, { name: value, start: end });
    return { end: call.end, ...(!call.isHarmless && { instead: "none" }) };
  }
  if (kind === "at" && value === "import") return { end: endOfStatement(css, end), instead: "" };
  if (kind === "name" && RUNNING.has(value) && isBeforeColon(css, end))
    return { end: endOfDeclaration(css, end), instead: "" };
  return { end };
}

/** Reads a function up to its closing bracket. It is harmless if all possible links in it are. */
function readCall(css: string, { name, start }: { name: string; start: number }): { isHarmless: boolean; end: number } {
  const open = [name];
  let isHarmless = name !== "expression";
  let at = start;
  while (at < css.length && open.length > 0) {
    const token = readCssToken(css, at);
    const { kind, value } = token;
    at = token.end;
    // The result of any other function may be a link: var(), attr() and future ones.
    if (kind === "function") isHarmless = isHarmless && (value === "type" || LINK_FUNCTIONS.has(value));
    else if (kind === "string" || kind === "url")
      isHarmless = isHarmless && (open.at(-1) === "type" || HARMLESS_LINK.test(value));
    else if (kind === "at" || isPunctuation(token, /[({};]/)) isHarmless = false;
    if (kind === "function" || isPunctuation(token, /\(/)) open.push(value);
    else if (isPunctuation(token, /\)/)) open.pop();
  }
  return { isHarmless, end: at };
}

function endOfStatement(css: string, start: number): number {
  for (let at = start; at < css.length;) {
    const token = readCssToken(css, at);
    if (isPunctuation(token, /;/)) return token.end;
    if (isPunctuation(token, /[{}]/)) return at;
    at = token.end;
  }
  return css.length;
}

function endOfDeclaration(css: string, start: number): number {
  const end = endOfStatement(css, start);
  return css[end - 1] === ";" ? end - 1 : end;
}

function isBeforeColon(css: string, start: number): boolean {
  for (let at = start; at < css.length;) {
    const { kind, value, end } = readCssToken(css, at);
    if (kind !== "space" && kind !== "comment") return value === ":";
    at = end;
  }
  return false;
}

function isPunctuation({ kind, value }: CssToken, characters: RegExp): boolean {
  return kind === "other" && characters.test(value);
}

const SPACE = /[ \t\r\n\f]+/y;
const NUMBER = /[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?/iy;
const ESCAPE = /\\(?:[\da-f]{1,6}(?:\r\n|[ \t\r\n\f])?|[^\n\r\f\da-f]|$)/iy;
const NAME_START = /--|-?(?:[a-z_\u0080-\uffff]|\\(?:[^\n\r\f]|$))/iy;
const NAME_PART = /[\w\u0080-\uffff-]+/y;

function readCssToken(css: string, at: number): CssToken {
  const character = css[at]!;
  const space = endOf(SPACE, css, at);
  if (space > at) return { kind: "space", value: "", end: space };
  if (character === "/" && css[at + 1] === "*") {
    const close = css.indexOf("*/", at + 2);
    return { kind: "comment", value: "", end: close < 0 ? css.length : close + 2 };
  }
  if (character === '"' || character === "'") return readString(css, at);
  const number = endOf(NUMBER, css, at);
  if (number > at) return { kind: "other", value: "0", end: isName(css, number) ? endOfName(css, number) : number };
  if (isName(css, at)) return readName(css, at);
  if (character === "@" && isName(css, at + 1)) {
    const end = endOfName(css, at + 1);
    return { kind: "at", value: decodeEscapes(css.slice(at + 1, end)), end };
  }
  if (character === "#") return { kind: "other", value: "#", end: Math.max(at + 1, endOfName(css, at + 1)) };
  return { kind: "other", value: character, end: at + 1 };
}

/** Reads a name, a function, or a link without quotes. */
function readName(css: string, at: number): CssToken {
  const end = endOfName(css, at);
  const value = decodeEscapes(css.slice(at, end));
  if (css[end] !== "(") return { kind: "name", value, end };
  const inside = endOf(SPACE, css, end + 1);
  if (value !== "url" || css[inside] === '"' || css[inside] === "'") return { kind: "function", value, end: end + 1 };
  let close = inside;
  while (close < css.length && css[close] !== ")") close += css[close] === "\\" ? 2 : 1;
  return { kind: "url", value: decodeEscapes(css.slice(inside, close)), end: Math.min(close + 1, css.length) };
}

/** Reads a string up to its quote. A broken one ends with its line. */
function readString(css: string, at: number): CssToken {
  const quote = css[at];
  let end = at + 1;
  while (end < css.length && css[end] !== quote && !/[\n\r\f]/.test(css[end]!))
    end += css[end] !== "\\" ? 1 : css[end + 1] === "\r" && css[end + 2] === "\n" ? 3 : 2;
  const value = decodeEscapes(css.slice(at + 1, end));
  return { kind: "string", value, end: Math.min(css[end] === quote ? end + 1 : end, css.length) };
}

function isName(css: string, at: number): boolean {
  return endOf(NAME_START, css, at) > at;
}

function endOfName(css: string, start: number): number {
  let at = start;
  for (;;) {
    const end = endOf(ESCAPE, css, endOf(NAME_PART, css, at));
    if (end === at) return at;
    at = end;
  }
}

function decodeEscapes(text: string): string {
  if (!text.includes("\\")) return text.toLowerCase();
  return text
    .replaceAll(/\\(?:([\da-f]{1,6})(?:\r\n|[ \t\r\n\f])?|(\r\n|[^]|$))/gi, (_, hex?: string, plain?: string) => {
      if (hex === undefined) return /^[\r\n\f]/.test(plain ?? "") ? "" : (plain ?? "");
      const code = Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
    })
    .toLowerCase();
}
