import { type Attribute, type Property, readAttributes, readProperties } from "./attribute.ts";
import { findScalar, firstOf, linkText, scalarText, valueText } from "./field.ts";
import type { Json, JsonObject } from "./json.ts";
import { SNIFF_BYTES, sniffMarkup } from "../media/media-type.ts";
import { resolveLink, withoutScript } from "../uri/uri.ts";

/** A document in the specification's shape. An absent value is an empty string. */
export type Normalized = {
  image_mime_type: string;
  image_key: string;
  image: string;
  image_data: string;
  external_url: string;
  description: string;
  name: string;
  attributes: Attribute[];
  properties: Property[] | null;
  background_color: string;
  animation_url: string;
  animation_key: string;
  animation_mime_type: string;
  youtube_url: string;
};

const NAME_KEYS = ["name", "title", "label", "tokenName"];
const IMAGE_KEYS = ["image", "image_url", "imageUrl", "image_uri", "imageURI"];
const IMAGE_DATA_KEYS = ["image_data", "svg_image_data"];
const ANIMATION_KEYS = ["animation_url", "animation", "animationUrl", "video", "audio"];
const EXTERNAL_KEYS = ["external_url", "external_link", "externalUrl", "external_uri", "home_url"];
const YOUTUBE_HOSTS = /^(?:(?:www|m|music)\.)?(?:youtube\.com|youtube-nocookie\.com)$|^youtu\.be$/;

/** A document has at least one of these keys. Anything else with status 200 is an error page. */
const KNOWN_KEYS = [
  ...NAME_KEYS,
  "description",
  ...IMAGE_KEYS,
  "image_content",
  "media",
  ...IMAGE_DATA_KEYS,
  ...ANIMATION_KEYS,
  ...EXTERNAL_KEYS,
  "youtube_url",
  "background_color",
  "attributes",
  "traits",
  "properties",
];
/** Keys that error answers of servers have beside a title or description. Source: RFC 9457 and common frameworks. */
const ERROR_KEYS = ["error", "errors"];
const STATUS_KEYS = ["status", "statusCode", "code"];
const CONTENT_KEYS = KNOWN_KEYS.filter((key) => ![...NAME_KEYS, "description"].includes(key));

/**
 * A normalized document without content. The order of its keys is that of what is stored, out of which the Marketplace
 * API cuts texts by it.
 */
export function emptyNormalized(): Normalized {
  return {
    image_mime_type: "",
    image_key: "",
    image: "",
    image_data: "",
    external_url: "",
    description: "",
    name: "",
    attributes: [],
    properties: null,
    background_color: "",
    animation_url: "",
    animation_key: "",
    animation_mime_type: "",
    youtube_url: "",
  };
}

/**
 * Normalizes any JSON, with texts of any size. Never throws. `base`: where the document came from, to resolve relative
 * links. Keys that are ours (image_key, image_mime_type …) are not read, because they say what we hold and not what a
 * document claims.
 */
export function normalize(json: Json, { base }: { base?: string | undefined } = {}): Normalized {
  const document = toDocument(json);
  if (!document) return emptyNormalized();
  const images = imageCandidates(document);
  const drawing = firstOf(images, (text) => (isDrawing(text) ? text : undefined));
  const image = firstOf(images, (text) => (isDrawing(text) ? undefined : text));
  return {
    ...emptyNormalized(),
    image: image === undefined ? "" : resolveLink(image, { base }),
    image_data: findText(document, IMAGE_DATA_KEYS) ?? drawing ?? "",
    external_url: withoutScript(firstOf(EXTERNAL_KEYS, (key) => linkText(document.get(key))) ?? ""),
    description: readDescription(document.get("description")) || (schemaText(document, "description") ?? ""),
    name: scalarText(document.get("name")) ?? schemaText(document, "name") ?? findScalar(document, NAME_KEYS) ?? "",
    attributes: readAttributes(document),
    properties: readProperties(document),
    background_color: readColor(document.get("background_color")),
    animation_url: resolveLink(firstOf(ANIMATION_KEYS, (key) => linkText(document.get(key))) ?? "", { base }),
    youtube_url: readYoutubeUrl(document.get("youtube_url")),
  };
}

/** Whether JSON is a document about something, and not the error answer of a server. */
export function isDocument(json: Json): boolean {
  const document = toDocument(json);
  if (!document || !hasKnownKey(json)) return false;
  return CONTENT_KEYS.some((key) => document.has(key)) || !isErrorAnswer(document);
}

/** Whether JSON has a key that documents have. */
export function hasKnownKey(json: Json): boolean {
  const document = toDocument(json);
  return document !== undefined && KNOWN_KEYS.some((key) => document.has(key));
}

/** Whether a document has nothing that could be shown, as tokens often have before they are revealed. */
export function isEmpty(normalized: Normalized): boolean {
  const { name, description, image, image_data, animation_url, attributes } = normalized;
  return (
    [name, description, image, image_data, animation_url].every((text) => text.trim() === "") && attributes.length === 0
  );
}

/**
 * Whether a document is an error answer: {"title": "Not Found", "status": 404} is one, {"name": "Sword", "status":
 * "active"} isn't.
 */
function isErrorAnswer(document: JsonObject): boolean {
  if (ERROR_KEYS.some((key) => !isNothing(document.get(key)))) return true;
  return STATUS_KEYS.some((key) => /^[45]\d\d$/.test(scalarText(document.get(key)) ?? ""));
}

function isNothing(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (value instanceof Map) return value.size === 0;
  return value === false || ["", "0"].includes(valueText(value));
}

function toDocument(json: Json): JsonObject | undefined {
  const value = Array.isArray(json) ? json[0] : json;
  return value instanceof Map ? value : undefined;
}

/** All that may be the image, the likeliest first. */
function imageCandidates(document: JsonObject): string[] {
  const properties = document.get("properties");
  const media = document.get("media");
  const values = [
    ...IMAGE_KEYS.map((key) => document.get(key)),
    properties instanceof Map ? properties.get("image") : undefined,
    media instanceof Map ? media.get("uri") : undefined,
    document.get("image_content"),
  ];
  return values.map((value) => linkText(value)).filter((text) => text !== undefined);
}

/** Whether text is SVG, whatever stands before its first element. */
function isDrawing(text: string): boolean {
  return text.startsWith("<") && sniffMarkup(Buffer.from(text.slice(0, SNIFF_BYTES)))?.mimeType === "image/svg+xml";
}

function findText(document: JsonObject, keys: readonly string[]): string | undefined {
  return firstOf(keys, (key) => {
    const value = document.get(key);
    return typeof value === "string" && linkText(value) !== undefined ? value : undefined;
  });
}

/**
 * What a document says in the form of the standards' own JSON schema, as some are written: {"title": "Asset Metadata",
 * "type": "object", "properties": {"name": {"type": "string", "description": "Sword"}}}. Source: EIP-721, EIP-1155.
 */
function schemaText(document: JsonObject, key: "name" | "description"): string | undefined {
  const properties = document.get("properties");
  if (document.get("type") !== "object" || !(properties instanceof Map)) return undefined;
  const value = properties.get(key);
  return scalarText(value instanceof Map ? value.get("description") : value);
}

function readDescription(value: Json | undefined): string {
  const text = Array.isArray(value)
    ? value.map((part) => scalarText(part) ?? "").join("\n")
    : (scalarText(value) ?? "");
  return text.trim() === "" ? "" : text;
}

function readColor(value: Json | undefined): string {
  const digits = (scalarText(value) ?? "").trim().replace(/^#/, "").toLowerCase();
  if (/^[\da-f]{3}$/.test(digits)) return digits.replaceAll(/./g, "$&$&");
  return /^[\da-f]{6}$/.test(digits) ? digits : "";
}

function readYoutubeUrl(value: Json | undefined): string {
  const text = linkText(value) ?? "";
  if (!URL.canParse(text)) return "";
  const { protocol, hostname } = new URL(text);
  return /^https?:$/.test(protocol) && YOUTUBE_HOSTS.test(hostname) ? text : "";
}
