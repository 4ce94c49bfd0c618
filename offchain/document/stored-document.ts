import type { Document } from "./document.ts";
import { applyMedia, hashLink, linksOf, type MediaFact, type MediaLinks, spareOf } from "../media/media-link.ts";
import { isEmpty, type Normalized } from "./normalize.ts";
import { writeFitting } from "./normalized-size.ts";

/**
 * A document as it is stored. Its text is made as soon as it was read: a thousand documents that wait to be written are
 * then a few thousand strings, and not the trees that made up most of what the garbage collector had to move.
 */
export type StoredDocument = {
  kind: "document";
  /** The text as received, as a JSON string: answers have it in this form. */
  raw_json: string;
  /** The normalized document as JSON, without what is known of its media. */
  normalized: string;
  links: MediaLinks;
  /** The links of the media, by their hashes in the media table. */
  hashes: Map<string, string>;
  isBlank: boolean;
  /** A server sent a page. */
  isPage: boolean;
  from: string;
};

/**
 * Makes a stored document of what was read. All but its links is cut to what may be stored. `from`: where it came from.
 */
export function toStoredDocument(
  { raw, whole, isPage = false, from }: Document & { from: string },
  { chainId }: { chainId: number },
): StoredDocument {
  const { image, image_data, animation_url } = whole;
  const links = { image, image_data, animation_url };
  return {
    kind: "document",
    raw_json: JSON.stringify(raw),
    normalized: writeFitting(whole),
    links,
    hashes: new Map(
      [...linksOf(links), spareOf(links)]
        .filter((link) => link !== "")
        .map((link) => [link, hashLink(link, { chainId })]),
    ),
    isBlank: isEmpty(whole),
    isPage,
    from,
  };
}

/** A document as JSON, with the keys and types of media. `media`: what is known, by the hash of the link. */
export function textWithMedia({ normalized, links, hashes }: StoredDocument, media: Map<string, MediaFact>): string {
  if (![...hashes.values()].some((hash) => media.has(hash))) return normalized;
  const factOf = (link: string) => media.get(hashes.get(link) ?? "");
  return JSON.stringify(applyMedia(JSON.parse(normalized) as Normalized, { whole: links, factOf }));
}
