import { createHash } from "node:crypto";
import { parseUri } from "../uri/uri.ts";
import { isAnimation } from "./media-type.ts";
import type { Normalized } from "../document/normalize.ts";

/** What is known of a link's content. */
export type MediaFact = { key: string; mimeType: string };

/** The links of a document to fetch media from, uncut. */
export type MediaLinks = Pick<Normalized, "image" | "image_data" | "animation_url">;

/** What a link is in a document. */
export type MediaRole = "image" | "animation";

/** The links of a document to fetch media from: its image or drawing, and its animation. */
export function linksOf({ image, image_data, animation_url }: MediaLinks): string[] {
  return [image || image_data, animation_url].filter((link) => link !== "");
}

/**
 * The drawing that a document has beside its image, shown while the image can't be had or where it is a film. Empty
 * where there is none.
 */
export function spareOf({ image, image_data }: MediaLinks): string {
  return image === "" ? "" : image_data;
}

/** What a link is in a document. */
export function roleOf(link: string, { animation_url }: Pick<MediaLinks, "animation_url">): MediaRole {
  return link === animation_url ? "animation" : "image";
}

/** Whether what a document has as its image is its animation: film or sound, where it has no other animation. */
export function isMoved({ mimeType }: MediaFact, { image, animation_url }: MediaLinks): boolean {
  return isAnimation(mimeType) && image !== "" && (animation_url === "" || animation_url === image);
}

/**
 * Whether the animation of a stored document is a picture now. Its link may be that of the image then, which was moved
 * while it was a film.
 */
export function isPictureNow({ image, animation_mime_type }: Normalized, animation: MediaFact | undefined): boolean {
  return (
    image === "" && isAnimation(animation_mime_type) && animation !== undefined && !isAnimation(animation.mimeType)
  );
}

/** Whether content can have a role. A page is no image, though another document may have it as its animation. */
export function isFit({ mimeType }: { mimeType: string }, role: MediaRole): boolean {
  return role === "animation" || mimeType !== "text/html";
}

/** Whether a link's content may change. It can't where the link has its hash, or the content itself. */
export function isMutableLink(link: string): boolean {
  const { kind } = parseUri(link);
  return kind === "http" || kind === "ipns" || kind === "web3";
}

/**
 * The name of a link in the table `media`. A web3:// link has the chain of its document before it, because a link that
 * names no chain means another contract on each.
 */
export function hashLink(link: string, { chainId }: { chainId: number }): string {
  const name = parseUri(link).kind === "web3" ? `${chainId} ${link}` : link;
  return createHash("sha256").update(name).digest("hex");
}

/**
 * Adds media to a document. Film or sound in place of an image is moved to the animation, unless there is one. Without
 * the image a drawing takes its place. `whole` has the uncut links.
 */
export function applyMedia(
  stored: Normalized,
  { whole, factOf }: { whole: MediaLinks; factOf: (link: string) => MediaFact | undefined },
): Normalized {
  const normalized = moveBack(stored, whole);
  const imageLink = whole.image || whole.image_data;
  const known = factOf(imageLink);
  const image = known && isFit(known, roleOf(imageLink, whole)) ? known : undefined;
  const spare = spareOf(whole) === "" ? undefined : factOf(spareOf(whole));
  const shown = image ?? spare;
  const animation = whole.animation_url === "" ? undefined : factOf(whole.animation_url);
  const result = {
    ...normalized,
    image_key: shown?.key ?? "",
    image_mime_type: shown?.mimeType ?? "",
    animation_key: animation?.key ?? "",
    animation_mime_type: animation?.mimeType ?? "",
  };
  if (!image || !isMoved(image, whole)) return result;
  return {
    ...result,
    image: "",
    image_key: spare?.key ?? "",
    image_mime_type: spare?.mimeType ?? "",
    animation_url: normalized.image || normalized.animation_url,
    animation_key: image.key,
    animation_mime_type: image.mimeType,
  };
}

/** A stored document with its image where it was received, whose link was moved to the animation if it was a film. */
function moveBack(stored: Normalized, { image, animation_url }: MediaLinks): Normalized {
  if (image === "" || stored.image !== "") return stored;
  return { ...stored, image: stored.animation_url, animation_url: animation_url && stored.animation_url };
}
