import type { Json, JsonObject } from "./json.ts";
import { cleanText } from "../text.ts";

/** Deeper documents are refused. Honest ones nest only a few levels. */
const MAX_DEPTH = 256;
/**
 * The largest number of objects and lists in a document: more than honest ones have. Each may take 300 bytes of memory
 * for two bytes of text.
 */
const MAX_OBJECTS = 150_000;

/** Thrown where a text is not JSON. Its message says where and why. */
export class JsonError extends Error {}
/** Thrown where there are too many objects. The tolerant reading would find as many. */
class ManyObjectsError extends JsonError {}

/**
 * Parses JSON strictly by RFC 8259. Where that fails, also accepts what people write: trailing commas, comments, single
 * quotes, NaN, bare keys, line breaks inside strings.
 *
 * @throws JsonError of the tolerant reading
 */
export function parseJson(text: string): Json {
  try {
    return parse(text, { isTolerant: false });
  } catch (error) {
    if (error instanceof ManyObjectsError) throw error;
    return parse(text.replace(/^\ufeff/, ""), { isTolerant: true });
  }
}

const STRICT_NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const TOLERANT_NUMBER = /[+-]?(?:Infinity|NaN|0[xX][\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)/y;
const BARE_KEY = /[\p{ID_Start}$_][\p{ID_Continue}$-]*/uy;
/** A character by which a string isn't simply the text between its quotes. */
// oxlint-disable-next-line no-control-regex
const NOT_PLAIN = /[\\\u0000-\u001f]/;
/** The part of a string before the next quote, escape or control character. */
// oxlint-disable-next-line no-control-regex
const PLAIN_DOUBLE = /[^"\\\u0000-\u001f]*/y;
// oxlint-disable-next-line no-control-regex
const PLAIN_SINGLE = /[^'\\\u0000-\u001f]*/y;
const ESCAPES: Record<string, string> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
const LETTER = /[a-zA-Z]/;
const WORDS: [string, Json][] = [
  ["true", true],
  ["false", false],
  ["null", null],
];
const TOLERANT_WORDS: [string, Json][] = [
  ...WORDS,
  ["undefined", null],
  ["True", true],
  ["False", false],
  ["None", null],
];

function parse(text: string, { isTolerant }: { isTolerant: boolean }): Json {
  let at = 0;
  let objects = 0;
  const value = parseValue(0);
  skipSpace();
  if (isTolerant) while (at < text.length && /[\s\0;]/.test(text[at]!)) at++;
  if (at < text.length) fail("the end");
  return value;

  function parseValue(depth: number): Json {
    if (depth > MAX_DEPTH) throw new JsonError(`Nested deeper than ${MAX_DEPTH} levels.`);
    skipSpace();
    const character = text[at];
    if ((character === "{" || character === "[") && ++objects > MAX_OBJECTS)
      throw new ManyObjectsError(`More than ${MAX_OBJECTS} objects and lists.`);
    if (character === "{") return parseObject(depth);
    if (character === "[") return parseArray(depth);
    if (character === '"' || (isTolerant && character === "'")) return parseString(character);
    if (LETTER.test(character ?? "")) {
      for (const [word, value] of isTolerant ? TOLERANT_WORDS : WORDS) {
        if (!text.startsWith(word, at)) continue;
        at += word.length;
        return value;
      }
    }
    const digits = match(isTolerant ? TOLERANT_NUMBER : STRICT_NUMBER);
    return digits ? { digits } : fail("a value");
  }

  function parseObject(depth: number): JsonObject {
    const object: JsonObject = new Map();
    at++;
    for (skipSpace(); text[at] !== "}"; skipSpace()) {
      const quote = text[at];
      const isQuoted = quote === '"' || (isTolerant && quote === "'");
      const key = isQuoted ? parseString(quote) : isTolerant ? match(BARE_KEY) : "";
      if (!isQuoted && !key) fail("a key");
      skipSpace();
      if (text[at] !== ":") fail("a colon");
      at++;
      object.set(key, parseValue(depth + 1));
      if (!isFollowedByMore("}")) break;
    }
    at++;
    return object;
  }

  function parseArray(depth: number): Json[] {
    const array: Json[] = [];
    at++;
    for (skipSpace(); text[at] !== "]"; skipSpace()) {
      array.push(parseValue(depth + 1));
      if (!isFollowedByMore("]")) break;
    }
    at++;
    return array;
  }

  /** Moves past a comma, or past the closing bracket. Returns false at the bracket. */
  function isFollowedByMore(closing: string): boolean {
    skipSpace();
    if (text[at] === closing) return false;
    if (text[at] !== ",") fail(`a comma or ${closing}`);
    at++;
    skipSpace();
    if (text[at] === closing && !isTolerant) fail("no comma before the end");
    return true;
  }

  function parseString(quote: string): string {
    at++;
    // Nearly all strings are plain: then this is ten times as fast as reading piece by piece.
    const end = text.indexOf(quote, at);
    const plain = end < 0 ? undefined : text.slice(at, end);
    if (plain !== undefined && !NOT_PLAIN.test(plain)) {
      at = end + 1;
      return plain;
    }
    let result = "";
    let mayBeDirty = false;
    for (;;) {
      result += match(quote === '"' ? PLAIN_DOUBLE : PLAIN_SINGLE);
      const character = text[at];
      if (character === undefined) fail("the end of a string");
      at++;
      if (character === quote) return mayBeDirty ? cleanText(result) : result;
      if (character === "\\") {
        mayBeDirty ||= text[at] === "u";
        result += parseEscape();
      } else if (isTolerant) result += character;
      else fail("no control character in a string");
    }
  }

  function parseEscape(): string {
    const letter = text[at] ?? "";
    at++;
    const escaped = ESCAPES[letter];
    if (escaped !== undefined) return escaped;
    const hex = letter === "u" ? text.slice(at, at + 4) : "";
    if (/^[\da-fA-F]{4}$/.test(hex)) {
      at += 4;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    if (!isTolerant) fail("an escape");
    return letter === "\n" || letter === "\r" ? "" : letter;
  }

  function skipSpace(): void {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) at++;
      else if (isTolerant && (code === 0xfeff || code === 0xa0 || code === 0x0b || code === 0x0c || code === 0x200b))
        at++;
      else if (isTolerant && code === 0x2f && text[at + 1] === "/") at = endOf("\n", at);
      else if (isTolerant && code === 0x2f && text[at + 1] === "*") at = endOf("*/", at + 2);
      else return;
    }
  }

  function endOf(mark: string, from: number): number {
    const found = text.indexOf(mark, from);
    return found < 0 ? text.length : found + mark.length;
  }

  function match(pattern: RegExp): string {
    const start = at;
    pattern.lastIndex = at;
    if (pattern.test(text)) at = pattern.lastIndex;
    return text.slice(start, at);
  }

  function fail(expected: string): never {
    throw new JsonError(`Expected ${expected} at character ${at}, found ${JSON.stringify(text.slice(at, at + 20))}.`);
  }
}
