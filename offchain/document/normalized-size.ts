import type { Normalized } from "./normalize.ts";
import { cutText } from "../text.ts";

/** The most that a normalized document takes as JSON: a page of a hundred tokens has to be sent at times. */
export const MAX_NORMALIZED_BYTES = 256 * 1024;
/** Room for the keys and types of media, which come later. */
const MEDIA_ROOM_BYTES = 1024;

/** The longest texts are cut first, each time to half, none below this. */
const SHORTEST_CUT = 64;

/** Its JSON, under the limit. */
export function writeFitting(normalized: Normalized): string {
  const text = JSON.stringify(normalized);
  return isWithin(text) ? text : JSON.stringify(fitInto(normalized));
}

/** Under the limit: long texts are cut at a character's boundary; where there are too many, the last ones go. */
export function fitInto(normalized: Normalized): Normalized {
  if (fits(normalized)) return normalized;
  for (let length = 128 * 1024; length >= SHORTEST_CUT; length /= 2) {
    const cut = cutAll(normalized, length);
    if (fits(cut)) return cut;
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
    if (fits(shortened)) return shortened;
  }
  return { ...cut, attributes: [], properties: null };
}

function fits(normalized: Normalized): boolean {
  return isWithin(JSON.stringify(normalized));
}

function isWithin(text: string): boolean {
  return Buffer.byteLength(text) < MAX_NORMALIZED_BYTES - MEDIA_ROOM_BYTES;
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
