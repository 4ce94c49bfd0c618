import { type Json, type JsonObject, stringifyJson } from "./json.ts";

/** Where people put the link inside an object that stands for an image: the first that holds one. */
const LINK_KEYS = ["url", "uri", "src", "href", "value", "description", "cid"];
/** An object in an object in an object is no image any more. */
const MAX_LINK_DEPTH = 3;

/** What a value says, always as text and without loss. An absent one says nothing. */
export function valueText(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  return value instanceof Map ? stringifyJson(value) : value.digits;
}

/** A plain text or number; undefined for anything else and for nothing but white space. */
export function scalarText(value: Json | undefined): string | undefined {
  if (value === undefined || value === null || typeof value === "boolean") return undefined;
  if (Array.isArray(value) || value instanceof Map) return undefined;
  const text = typeof value === "string" ? value : value.digits;
  return text.trim() === "" ? undefined : text;
}

/** The first of `keys` that holds a text or number. */
export function findScalar(object: JsonObject, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = scalarText(object.get(key));
    if (text !== undefined) return text;
  }
  return undefined;
}

/** A link, out of whatever it is wrapped in. Undefined where there is none. */
export function linkText(value: Json | undefined, depth = 0): string | undefined {
  if (value === undefined || value === null || depth > MAX_LINK_DEPTH) return undefined;
  if (typeof value === "string") return isAbsent(value) ? undefined : value.trim();
  if (Array.isArray(value)) return firstOf(value, (element) => linkText(element, depth + 1));
  if (!(value instanceof Map)) return undefined;
  return firstOf(LINK_KEYS, (key) => {
    const link = linkText(value.get(key), depth + 1);
    return link !== undefined && key === "cid" && !link.includes(":") ? `ipfs://${link}` : link;
  });
}

/** A text that says that there is nothing. */
export function isAbsent(text: string): boolean {
  return /^\s*(?:null|undefined)?\s*$/i.test(text.length > 100 ? "x" : text);
}

export function firstOf<T, R>(values: Iterable<T>, find: (value: T) => R | undefined): R | undefined {
  for (const value of values) {
    const found = find(value);
    if (found !== undefined) return found;
  }
  return undefined;
}
