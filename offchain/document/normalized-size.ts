import type { Normalized } from "./normalize.ts";
import { cutText } from "../text.ts";

/** The most that a normalized document takes as JSON: a page of a hundred tokens has to be sent at times. */
export const MAX_NORMALIZED_BYTES = 256 * 1024;
/** Room for the keys and types of media, which come later. */
const MEDIA_ROOM_BYTES = 1024;

const MAX_SMALL_LISTS = 200;
const MAX_SMALL_LENGTH = 30_000;

/** The longest texts are cut first, each time to half, none below this. */
const SHORTEST_CUT = 64;

/** Under the limit: long texts are cut at a character's boundary; where there are too many, the last ones go. */
export function fitInto(normalized: Normalized): Normalized {
  if (isWithin(normalized)) return normalized;
  for (let length = 128 * 1024; length >= SHORTEST_CUT; length /= 2) {
    const cut = cutAll(normalized, length);
    if (isWithin(cut)) return cut;
  }
  const cut = cutAll(normalized, SHORTEST_CUT);
  for (
    let kept = Math.max(cut.attributes.length, cut.properties?.length ?? 0);
    kept >= 1;
    kept = Math.floor(kept / 2)
  ) {
    const shortened = {
      ...cut,
      attributes: cut.attributes.slice(0, kept),
      properties: cut.properties?.slice(0, kept) ?? null,
    };
    if (isWithin(shortened)) return shortened;
  }
  return { ...cut, attributes: [], properties: null };
}

function isWithin(normalized: Normalized): boolean {
  if (isSmall(normalized)) return true;
  return Buffer.byteLength(JSON.stringify(normalized)) < MAX_NORMALIZED_BYTES - MEDIA_ROOM_BYTES;
}

function cutAll(normalized: Normalized, length: number): Normalized {
  const cut = <T>(value: T): T => (typeof value === "string" ? (cutText(value, length) as T) : value);
  const cutFields = <T extends object>(object: T): T =>
    Object.fromEntries(Object.entries(object).map(([key, value]) => [key, cut<unknown>(value)])) as T;
  return {
    ...cutFields(normalized),
    attributes: normalized.attributes.map(cutFields),
    properties: normalized.properties?.map(cutFields) ?? null,
  };
}

/** Nearly all are, and counting characters is quicker than writing JSON: one takes six bytes at most. */
function isSmall(normalized: Normalized): boolean {
  const { attributes, properties, ...texts } = normalized;
  if (attributes.length > MAX_SMALL_LISTS || (properties?.length ?? 0) > MAX_SMALL_LISTS) return false;
  let length = 0;
  for (const text of Object.values(texts)) length += text.length;
  for (const { display_type, trait_type, value } of attributes)
    length += (display_type?.length ?? 0) + trait_type.length + value.length;
  for (const { name, value, type, description } of properties ?? [])
    length += (name?.length ?? 0) + (value?.length ?? 0) + (type?.length ?? 0) + (description?.length ?? 0);
  return length < MAX_SMALL_LENGTH;
}
