/**
 * JSON without loss. Numbers keep their digits, because token ids and amounts are longer than what a double holds.
 * Objects are maps, so that no key ("__proto__") has a special meaning. Strings have no NUL and no half surrogate
 * pairs, which Postgres doesn't accept.
 */
export type Json = string | boolean | null | JsonNumber | Json[] | JsonObject;
type JsonNumber = { readonly digits: string };
/** An object, with its keys in the order of the text. */
export type JsonObject = Map<string, Json>;

/** A value as JSON text. Numbers have the digits that they came with. */
export function stringifyJson(value: Json): string {
  if (value === null || typeof value === "string" || typeof value === "boolean") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(stringifyJson).join(",")}]`;
  if (!(value instanceof Map)) return digitsOf(value) ?? "null";
  const entries = [...value].map(([key, member]) => `${JSON.stringify(key)}:${stringifyJson(member)}`);
  return `{${entries.join(",")}}`;
}

/** The digits of a number. Undefined for what is none, as NaN, which Python writes where something is missing. */
export function digitsOf({ digits }: JsonNumber): string | undefined {
  return /\d/.test(digits) ? digits : undefined;
}

/** A copy of a value with each string replaced, except for keys. */
export function mapStrings(value: Json, replace: (text: string) => string): Json {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((element) => mapStrings(element, replace));
  if (value instanceof Map) return new Map([...value].map(([key, member]) => [key, mapStrings(member, replace)]));
  return value;
}
