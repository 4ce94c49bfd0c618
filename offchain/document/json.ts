/**
 * JSON without loss: numbers keep the digits of their source, since token ids and amounts are longer than a double
 * holds, and objects are maps, so that no key ("__proto__") means anything. Strings have no NUL and no half characters,
 * which Postgres doesn't take.
 */
export type Json = string | boolean | null | JsonNumber | Json[] | JsonObject;
type JsonNumber = { readonly digits: string };
export type JsonObject = Map<string, Json>;

/** JSON text, numbers with the digits they came with. */
export function stringifyJson(value: Json): string {
  if (value === null || typeof value === "string" || typeof value === "boolean") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(stringifyJson).join(",")}]`;
  if (!(value instanceof Map)) return Number.isFinite(Number(value.digits)) ? value.digits : "null";
  const entries = [...value].map(([key, member]) => `${JSON.stringify(key)}:${stringifyJson(member)}`);
  return `{${entries.join(",")}}`;
}

/** The same value with each string, keys aside, replaced. */
export function mapStrings(value: Json, replace: (text: string) => string): Json {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((element) => mapStrings(element, replace));
  if (value instanceof Map) return new Map([...value].map(([key, member]) => [key, mapStrings(member, replace)]));
  return value;
}
