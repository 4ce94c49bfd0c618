import { digitsOf, type Json, type JsonObject, stringifyJson } from "./json.ts";

/** Where documents have the link, if an image is an object. The first of these keys that holds a link counts. */
const LINK_KEYS = ["url", "uri", "src", "href", "value", "description", "cid"];
/** How deep a link may be nested in objects. */
const MAX_LINK_DEPTH = 3;

/** A value as text, without loss. Empty where it is absent. */
export function valueText(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.map(valueText).join(", ");
  return value instanceof Map ? stringifyJson(value) : value.digits;
}

/** A text or number. Undefined for anything else, for white space and for NaN. */
export function scalarText(value: Json | undefined): string | undefined {
  if (value === undefined || value === null || typeof value === "boolean") return undefined;
  if (Array.isArray(value) || value instanceof Map) return undefined;
  if (typeof value !== "string") return digitsOf(value);
  return value.trim() === "" ? undefined : value;
}

/** The first text or number under one of `keys`. */
export function findScalar(object: JsonObject, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = scalarText(object.get(key));
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The link in a value, whatever it is wrapped in. Undefined where there is none. */
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

/** Whether a text stands for nothing: empty, "null", "undefined". */
export function isAbsent(text: string): boolean {
  return /^\s*(?:null|undefined)?\s*$/i.test(text.length > 100 ? "x" : text);
}

/** What `find` returns for the first value for which it returns anything. */
export function firstOf<T, R>(values: Iterable<T>, find: (value: T) => R | undefined): R | undefined {
  for (const value of values) {
    const found = find(value);
    if (found !== undefined) return found;
  }
  return undefined;
}
