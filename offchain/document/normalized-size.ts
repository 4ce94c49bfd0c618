import type { Attribute, Property } from "./attribute.ts";
import type { Normalized } from "./normalize.ts";
import { cutText } from "../text.ts";

/** The largest normalized document as JSON, in bytes. A page with a hundred tokens must still be sendable. */
export const MAX_NORMALIZED_BYTES = 256_000;
/** Room for the keys and types of media, which are added later. */
const MEDIA_ROOM_BYTES = 1024;
const MAX_BYTES = MAX_NORMALIZED_BYTES - MEDIA_ROOM_BYTES - 1;

/** The longest texts are cut first, each time to half. Texts of attributes and properties are never cut below this. */
const SHORTEST_CUT = 64;
/**
 * The document's own texts are never cut below this, because a cut link leads nowhere. All eight of them always fit.
 */
const SHORTEST_OWN_CUT = 2048;
const LONGEST_CUT = 128 * 1024;

/**
 * A document as JSON within the limit. Long texts are cut, never within a character. Where there are too many
 * attributes or properties, the last ones are left out.
 */
export function writeFitting(normalized: Normalized): string {
  const text = JSON.stringify(normalized);
  return Buffer.byteLength(text) <= MAX_BYTES ? text : JSON.stringify(cutToFit(normalized));
}

/** Cuts a document. Tries the shortest texts first, so that nothing is made that is much larger than what fits. */
function cutToFit(whole: Normalized): Normalized {
  const kept = takeFitting(whole);
  let fitting = cutTexts(kept, SHORTEST_CUT);
  for (let length = SHORTEST_CUT * 2; length <= LONGEST_CUT; length *= 2) {
    const longer = cutTexts(kept, length);
    if (sizeOf(longer) > MAX_BYTES) break;
    fitting = longer;
  }
  return fitting;
}

/**
 * A document with as many attributes and properties as fit, when their texts are as short as possible: equally many of
 * both.
 */
function takeFitting(whole: Normalized): Normalized {
  const { attributes, properties } = whole;
  const without = { ...whole, attributes: [], properties: properties && [] };
  const count = Math.max(attributes.length, properties?.length ?? 0);
  let size = sizeOf(cutTexts(without, SHORTEST_CUT));
  let kept = 0;
  for (; kept < count; kept++) {
    const [attribute, property] = [attributes[kept], properties?.[kept]];
    // 1 for the comma.
    if (attribute) size += sizeOf(cutAttribute(attribute, SHORTEST_CUT)) + 1;
    if (property) size += sizeOf(cutProperty(property, SHORTEST_CUT)) + 1;
    if (size > MAX_BYTES) break;
  }
  return { ...whole, attributes: attributes.slice(0, kept), properties: properties && properties.slice(0, kept) };
}

function sizeOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The keys stay in the order of `whole`, by which the Marketplace API cuts texts out of what is stored. */
function cutTexts(whole: Normalized, length: number): Normalized {
  const { attributes, properties, ...own } = whole;
  const ownLength = Math.max(length, SHORTEST_OWN_CUT);
  const texts = Object.fromEntries(Object.entries(own).map(([key, text]) => [key, cutText(text, ownLength)]));
  return {
    ...whole,
    ...(texts as typeof own),
    attributes: attributes.map((attribute) => cutAttribute(attribute, length)),
    properties: properties && properties.map((property) => cutProperty(property, length)),
  };
}

function cutAttribute({ display_type, trait_type, value }: Attribute, length: number): Attribute {
  return {
    display_type: cutPart(display_type, length),
    trait_type: cutText(trait_type, length),
    value: cutText(value, length),
  };
}

function cutProperty({ name, value, type, description }: Property, length: number): Property {
  return {
    name: cutPart(name, length),
    value: cutPart(value, length),
    type: cutPart(type, length),
    description: cutPart(description, length),
  };
}

function cutPart(text: string | null, length: number): string | null {
  return text === null ? null : cutText(text, length);
}
