import { findScalar, isAbsent, scalarText, valueText } from "./field.ts";
import type { Json, JsonObject } from "./json.ts";
import { JsonError, parseJson } from "./json-parser.ts";
import { MAX_NORMALIZED_BYTES } from "./normalized-size.ts";

/** In the specification's shape. */
export type Attribute = { display_type: string | null; trait_type: string; value: string };
export type Property = {
  name: string | null;
  value: string | null;
  type: string | null;
  description: string | null;
};

/** As many as fit into a normalized document with nothing in them: more are never shown. */
const MAX_ELEMENTS = Math.floor(
  MAX_NORMALIZED_BYTES / JSON.stringify({ display_type: null, trait_type: "", value: "" }).length,
);

/** Names that the name of a trait goes by, the likeliest first. */
const TRAIT_KEYS = ["trait_type", "trait", "key", "name", "type", "label"];

/** `type` is a part of a property of its own. */
const PROPERTY_NAME_KEYS = TRAIT_KEYS.filter((key) => key !== "type");

/** Attributes out of every shape that they were seen in. A bad element is left out alone, an exact repetition too. */
export function readAttributes(document: JsonObject): Attribute[] {
  const own = document.get("attributes");
  const properties = propertiesOf(document);
  // Beside a list of attributes, an empty one too, properties are what they are called.
  const isAttributes = Array.isArray(properties) && !Array.isArray(own);
  const sources = [own, document.get("traits"), isAttributes ? properties : undefined];
  for (const source of sources) {
    const attributes = readSource(source);
    if (attributes.length > 0) return withoutRepetitions(attributes);
  }
  return [];
}

/** Properties as a list, from the object map of the ERC-1155 schema or from an array. Null where there are none. */
export function readProperties(document: JsonObject): Property[] | null {
  const properties = propertiesOf(document);
  if (Array.isArray(properties)) return properties.slice(0, MAX_ELEMENTS).map((element) => toProperty(null, element));
  if (properties instanceof Map)
    return [...properties].slice(0, MAX_ELEMENTS).map(([name, value]) => toProperty(name, value));
  return null;
}

/** They may be the JSON of a list or a map. */
function propertiesOf(document: JsonObject): Json | undefined {
  const properties = document.get("properties");
  return typeof properties === "string" ? parseText(properties) : properties;
}

/** Empty where there is nothing that could be attributes, so that the next source is asked. */
function readSource(source: Json | undefined): Attribute[] {
  if (source === undefined || source === null || typeof source === "boolean") return [];
  if (typeof source === "string") {
    if (isAbsent(source)) return [];
    const parsed = parseText(source);
    return parsed === undefined ? readElement(source) : readSource(parsed);
  }
  // Nested arrays are flattened once.
  if (Array.isArray(source)) return source.flat(1).flatMap(readElement);
  if (source instanceof Map) return isSingle(source) ? readElement(source) : [...source].flatMap(readEntry);
  return readElement(source);
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
  // {Hat: "red"} as an element: each key is a trait.
  return [...element].map(toMapEntry);
}

/** {Hat: "red"}, or {"0": {trait_type: "Hat", value: "red"}}, a list that was written as a map. */
function readEntry([key, value]: [string, Json]): Attribute[] {
  const isElement =
    value instanceof Map &&
    isAttribute(value) &&
    findScalar(value, /^\d+$/.test(key) ? TRAIT_KEYS : ["trait_type"]) !== undefined;
  return isElement ? readElement(value) : [toMapEntry([key, value])];
}

function toMapEntry([trait_type, value]: [string, Json]): Attribute {
  if (value instanceof Map && value.has("value"))
    return { display_type: displayType(value), trait_type, value: valueText(value.get("value")) };
  return { display_type: null, trait_type, value: valueText(value) };
}

/** {trait_type, value}, or one of them beside whatever else. */
function isAttribute(object: JsonObject): boolean {
  return object.has("trait_type") || object.has("value");
}

/** One attribute where a list should be. A map of traits may have one that is called "value". */
function isSingle(map: JsonObject): boolean {
  return isAttribute(map) && (map.size === 1 || ["display_type", ...TRAIT_KEYS].some((key) => map.has(key)));
}

/** `value`, or the only key that nothing else is known of, as in {trait_type, val}. */
function findValue(object: JsonObject): Json | undefined {
  if (object.has("value")) return object.get("value");
  const others = [...object].filter(([key]) => key !== "display_type" && !TRAIT_KEYS.includes(key));
  return others.length === 1 ? others[0]![1] : undefined;
}

function displayType(object: JsonObject): string | null {
  const type = object.get("display_type");
  return typeof type === "string" ? type : null;
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
  // Nothing of the schema in it: an object is its own value.
  const isSchema = ["value", "type", "description", "name"].some((key) => value.has(key)) || innerName !== undefined;
  return isSchema ? property : { ...property, value: valueText(value) };
}

/** The first ones that differ, as many as fit. */
function withoutRepetitions(attributes: Attribute[]): Attribute[] {
  // Nearly all differ in their traits already, and asking is quicker than joining.
  if (attributes.length <= MAX_ELEMENTS && areTraitsDistinct(attributes)) return attributes;
  // No text has a NUL in it, so that it keeps the parts apart.
  const keyOf = ({ display_type, trait_type, value }: Attribute) => `${value}\0${trait_type}\0${display_type ?? "\0"}`;
  const distinct = new Map<string, Attribute>();
  for (const attribute of attributes) {
    if (distinct.size === MAX_ELEMENTS) break;
    const key = keyOf(attribute);
    if (!distinct.has(key)) distinct.set(key, attribute);
  }
  return [...distinct.values()];
}

function areTraitsDistinct(attributes: Attribute[]): boolean {
  return new Set(attributes.map(({ trait_type }) => trait_type)).size === attributes.length;
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
