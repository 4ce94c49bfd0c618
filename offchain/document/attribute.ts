import { findScalar, isAbsent, scalarText, valueText } from "./field.ts";
import type { Json, JsonObject } from "./json.ts";
import { JsonError, parseJson } from "./json-parser.ts";
import { MAX_NORMALIZED_BYTES } from "./normalized-size.ts";

/** An attribute in the specification's shape. */
export type Attribute = { display_type: string | null; trait_type: string; value: string };
/** A property in the specification's shape; absent parts are null. */
export type Property = {
  name: string | null;
  value: string | null;
  type: string | null;
  description: string | null;
};

/** The largest number of attributes: as many as fit into a normalized document with nothing in them. */
const MAX_ELEMENTS = Math.floor(
  MAX_NORMALIZED_BYTES / JSON.stringify({ display_type: null, trait_type: "", value: "" }).length,
);

/** The keys by which an object is an attribute for sure. `traitType` and `displayType` are in publications on Lens. */
const ATTRIBUTE_KEYS = ["trait_type", "traitType"];

/** The keys under which documents have the name of a trait, the likeliest first. */
const TRAIT_KEYS = [...ATTRIBUTE_KEYS, "trait", "key", "name", "type", "label"];

const DISPLAY_KEYS = ["display_type", "displayType"];

/** What a map has that is one attribute, though it has neither a trait type nor a display type. */
const PLAIN_KEYS = new Set([...TRAIT_KEYS, "value", "max_value"]);

/** Other names of the value: {trait_type, trait_value, rarity}. */
const VALUE_KEY = /^(?!max|min)(?:\w*value|val)$/i;

/** `type` isn't a name here, because properties have it as a field of its own. */
const PROPERTY_NAME_KEYS = TRAIT_KEYS.filter((key) => key !== "type");

/** Reads attributes of every shape that was seen in documents. Bad elements and exact repetitions are left out. */
export function readAttributes(document: JsonObject): Attribute[] {
  const own = document.get("attributes");
  const properties = propertiesOf(document);
  // Beside a list of attributes, even an empty one, properties are really properties, unless they say that they aren't.
  const isAttributes = Array.isArray(properties) && (!Array.isArray(own) || properties.every(hasTraitType));
  const sources = [own, document.get("traits"), isAttributes ? properties : undefined];
  for (const source of sources) {
    const attributes = takeDistinct(readSource(source));
    if (attributes.length > 0) return attributes;
  }
  return [];
}

/** Reads properties as a list, from the map of the ERC-1155 schema or from an array. Null where there are none. */
export function readProperties(document: JsonObject): Property[] | null {
  const properties = propertiesOf(document);
  if (Array.isArray(properties)) return properties.slice(0, MAX_ELEMENTS).map((element) => toProperty(null, element));
  if (properties instanceof Map)
    return [...properties].slice(0, MAX_ELEMENTS).map(([name, value]) => toProperty(name, value));
  return null;
}

/** The document's properties. They may be a list or a map as JSON in a string. */
function propertiesOf(document: JsonObject): Json | undefined {
  const properties = document.get("properties");
  return typeof properties === "string" ? parseText(properties) : properties;
}

/**
 * The attributes of one source, one by one: all together took a hundred bytes for each two bytes of text. None where
 * nothing could be an attribute: then the next source is tried.
 */
function* readSource(source: Json | undefined): Generator<Attribute> {
  if (source === undefined || source === null || typeof source === "boolean") return;
  if (typeof source === "string") {
    if (isAbsent(source)) return;
    const parsed = parseText(source);
    yield* parsed === undefined ? readElement(source) : readSource(parsed);
  } else if (Array.isArray(source)) {
    // Nested arrays are flattened by one level.
    for (const element of source)
      if (Array.isArray(element)) for (const inner of element) yield* readElement(inner);
      else yield* readElement(element);
  } else if (source instanceof Map && !isSingle(source)) for (const entry of source) yield* readEntry(entry);
  else yield* readElement(source);
}

function readElement(element: Json): Attribute[] {
  if (element === null) return [];
  if (!(element instanceof Map)) {
    const value = valueText(element);
    return value === "" ? [] : [{ display_type: null, trait_type: "", value }];
  }
  if (element.size === 0) return [];
  if (isAttribute(element)) {
    const own = element.get("trait_type");
    const trait_type = typeof own === "string" && own !== "" ? own : (findScalar(element, TRAIT_KEYS) ?? "");
    return [{ display_type: displayType(element), trait_type, value: valueText(findValue(element)) }];
  }
  // An element such as {Hat: "red"}: each key is a trait.
  return [...element].map(toMapEntry);
}

/** Reads an entry of a map: {Hat: "red"}, or {"0": {trait_type: "Hat", value: "red"}}, a list written as a map. */
function readEntry([key, value]: [string, Json]): Attribute[] {
  const isElement =
    value instanceof Map &&
    isAttribute(value) &&
    findScalar(value, /^\d+$/.test(key) ? TRAIT_KEYS : ATTRIBUTE_KEYS) !== undefined;
  return isElement ? readElement(value) : [toMapEntry([key, value])];
}

function toMapEntry([trait_type, value]: [string, Json]): Attribute {
  if (value instanceof Map && value.has("value"))
    return { display_type: displayType(value), trait_type, value: valueText(value.get("value")) };
  return { display_type: null, trait_type, value: valueText(value) };
}

/** Whether an object is {trait_type, value}, or has at least one of these keys. */
function isAttribute(object: JsonObject): boolean {
  return object.has("value") || hasTraitType(object);
}

function hasTraitType(value: Json): boolean {
  return value instanceof Map && ATTRIBUTE_KEYS.some((key) => value.has(key));
}

/**
 * Whether a map is one attribute where a list should be. A map of traits may also have traits called "value" and "name",
 * as in {name, value, damage}.
 */
function isSingle(map: JsonObject): boolean {
  if (!isAttribute(map)) return false;
  if (map.size === 1 || [...ATTRIBUTE_KEYS, ...DISPLAY_KEYS].some((key) => map.has(key))) return true;
  return TRAIT_KEYS.some((key) => map.has(key)) && [...map.keys()].every((key) => PLAIN_KEYS.has(key));
}

/**
 * The value of an attribute: `value`, or the only key with another meaning than known ones, as in {trait_type, val}, or
 * of several the one with another name of the value.
 */
function findValue(object: JsonObject): Json | undefined {
  if (object.has("value")) return object.get("value");
  const others = [...object].filter(([key]) => !DISPLAY_KEYS.includes(key) && !PLAIN_KEYS.has(key));
  return (others.length === 1 ? others[0] : others.find(([key]) => VALUE_KEY.test(key)))?.[1];
}

function displayType(object: JsonObject): string | null {
  const types = DISPLAY_KEYS.map((key) => object.get(key));
  return types.find((type) => typeof type === "string") ?? null;
}

function toProperty(name: string | null, value: Json): Property {
  if (!(value instanceof Map))
    return { name, value: value === null ? null : valueText(value), type: null, description: null };
  const part = (key: string) => (value.has(key) && value.get(key) !== null ? valueText(value.get(key)) : null);
  const own = value.get("name");
  const innerName =
    typeof own === "string" && (name === null || own.trim() !== "")
      ? own
      : name === null
        ? findScalar(value, PROPERTY_NAME_KEYS)
        : scalarText(own);
  const property = {
    name: innerName ?? name,
    value: part("value"),
    type: part("type"),
    description: part("description"),
  };
  // Without any key of the schema, an object is itself the value.
  const isSchema = ["value", "type", "description", "name"].some((key) => value.has(key)) || innerName !== undefined;
  return isSchema ? property : { ...property, value: valueText(value) };
}

/** The attributes without repetitions, as many as fit. */
function takeDistinct(attributes: Iterable<Attribute>): Attribute[] {
  const taken: Attribute[] = [];
  const traits = new Set<string>();
  // In nearly all documents the traits differ, and need not be compared by all that they have.
  let keys: Set<string> | undefined;
  for (const attribute of attributes) {
    if (traits.has(attribute.trait_type)) {
      keys ??= new Set(taken.map(keyOf));
      if (keys.has(keyOf(attribute))) continue;
    }
    traits.add(attribute.trait_type);
    keys?.add(keyOf(attribute));
    if (taken.push(attribute) === MAX_ELEMENTS) break;
  }
  return taken;
}

/** All of an attribute. No text contains NUL, so it can separate the parts. */
function keyOf({ display_type, trait_type, value }: Attribute): string {
  return `${value}\0${trait_type}\0${display_type ?? "\0"}`;
}

function parseText(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
