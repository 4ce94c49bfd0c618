import { html } from "hono/html";
import type { TokenCard } from "../api/token/token-card.ts";
import { isMediaKey } from "../offchain/media/media-store.ts";
import type { Html } from "./html.ts";

/** The stored media of a token. We serve all of it ourselves: our pages load nothing from other sites. */
type Media = Pick<TokenCard, "image_key" | "image_mime_type" | "animation_key" | "animation_mime_type">;

const mediaPath = (key: string) => `/media/${key}`;
const isImage = ({ key, mimeType }: { key: string; mimeType: string }) =>
  isMediaKey(key) && mimeType.startsWith("image/");

/** A picture in a list. It stands beside a name, so it has no alternative text. */
export function renderThumbnail(media: Media | undefined): Html {
  const image = media && { key: media.image_key, mimeType: media.image_mime_type };
  const animation = media && { key: media.animation_key, mimeType: media.animation_mime_type };
  const shown = [image, animation].find((one) => one !== undefined && isImage(one));
  if (shown) return html`<img src="${mediaPath(shown.key)}" alt="" loading="lazy" decoding="async" />`;
  if (animation && isMediaKey(animation.key) && animation.mimeType.startsWith("video/"))
    return html`<video
      src="${mediaPath(animation.key)}"
      muted
      preload="metadata"
      tabindex="-1"
      aria-hidden="true"
    ></video>`;
  return html`<span class="blank" aria-hidden="true"></span>`;
}

/**
 * The picture and the animation of a token. A moving one is shown large. Beside a sound or a page, the picture is
 * large, because pages seldom show much without their scripts.
 */
export function renderMedia(media: Media, { name }: { name: string }): Html {
  const image = { key: media.image_key, mimeType: media.image_mime_type };
  const { animation_key, animation_mime_type } = media;
  const animation = isMediaKey(animation_key)
    ? renderAnimation({ key: animation_key, mimeType: animation_mime_type }, { name })
    : undefined;
  const picture = isImage(image)
    ? html`<a href="${mediaPath(image.key)}"><img src="${mediaPath(image.key)}" alt="Picture of ${name}" /></a>`
    : undefined;
  if (!animation && !picture) return html`<p class="blank">No picture</p>`;
  if (!animation || !picture) return html`${animation ?? picture}`;
  return /^(?:image|video)\//.test(animation_mime_type)
    ? html`${animation}<span class="small">${picture}</span>`
    : html`${picture}${animation}`;
}

/**
 * A film, a sound or a page. Scripts of pages and drawings can't run: this frame and the headers of /media forbid it.
 */
function renderAnimation({ key, mimeType }: { key: string; mimeType: string }, { name }: { name: string }): Html {
  const path = mediaPath(key);
  if (mimeType.startsWith("image/")) return html`<img src="${path}" alt="Animation of ${name}" />`;
  if (mimeType.startsWith("video/"))
    return html`<video
      src="${path}"
      controls
      loop
      playsinline
      preload="metadata"
      aria-label="Film of ${name}"
    ></video>`;
  if (mimeType.startsWith("audio/"))
    return html`<audio src="${path}" controls preload="metadata" aria-label="Sound of ${name}"></audio>`;
  if (mimeType === "text/html")
    return html`<iframe
      src="${path}"
      sandbox
      loading="lazy"
      referrerpolicy="no-referrer"
      title="Page of ${name}"
    ></iframe>`;
  return html`<p class="blank"><a href="${path}" download>Download (${mimeType})</a></p>`;
}
