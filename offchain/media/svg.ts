import { decodeEntities, expandEntities } from "./svg-entity.ts";
import { cleanCss } from "./svg-css.ts";
import { readTag, readToken, type Token } from "./svg-token.ts";

/**
 * Elements that run code, embed pages, load or ask. They are removed with all that is in them. Other elements of HTML
 * stay: all that some collections draw is in a `foreignObject` (Terraforms).
 */
const FORBIDDEN = new Set(
  "script iframe frame embed object applet handler listener audio video source track link meta base form input button textarea select math template noscript".split(
    " ",
  ),
);
/** Elements that change attributes over time. */
const ANIMATING = new Set(["set", "animate", "animatemotion", "animatetransform", "animatecolor"]);
/** Elements that show a picture. */
const PICTURES = new Set(["image", "feimage", "img"]);
/** Attributes that have a link. */
const LINKS = new Set(
  "href src data action formaction ping background poster srcdoc srcset cite longdesc usemap codebase archive classid profile manifest attributionsrc".split(
    " ",
  ),
);

/**
 * Removes from a drawing what runs, loads or tracks: scripts, handlers, embedded pages, external references, document
 * types. A drawing without these is returned byte for byte, and XML stays XML.
 */
export function sanitizeSvg(text: string): string {
  const source = expandEntities(text);
  const pieces: string[] = [];
  /** The forbidden element that we are inside of, and how often it is nested in itself. */
  let inside: { name: string; depth: number } | undefined;
  let isBlank = true;
  const keep = (piece: string) => {
    pieces.push(piece);
    isBlank &&= piece.trim() === "";
  };
  for (let at = 0; at < source.length;) {
    const start = source.indexOf("<", at);
    if (!inside) keep(source.slice(at, start < 0 ? source.length : start));
    const token = start < 0 ? undefined : readToken(source, start);
    // A tag without an end can only be the last one.
    if (!token) break;
    at = token.end;
    if (inside) {
      if (token.kind === "open" && token.name === inside.name && !token.isEmpty) inside.depth++;
      if (token.kind === "close" && token.name === inside.name && --inside.depth === 0) inside = undefined;
    } else if (token.kind === "open") {
      const tag = FORBIDDEN.has(token.name) ? undefined : cleanTag(token);
      keep(tag ?? "");
      if (tag === undefined && !token.isEmpty) inside = { name: token.name, depth: 1 };
      if (tag === undefined || token.isEmpty || token.name !== "style") continue;
      const sheet = cleanStyle(source, token.end);
      keep(sheet.text);
      at = sheet.end;
    } else if (token.kind === "close" ? !FORBIDDEN.has(token.name) : isKept(token, { isBlank })) keep(token.text);
    else if (token.kind === "cdata") keep(encodeText(token.text.slice(9, -3)));
  }
  return pieces.join("");
}

function isKept({ kind, text }: Token, { isBlank }: { isBlank: boolean }): boolean {
  if (kind === "instruction") return /^<\?xml\s/i.test(text) && isBlank;
  if (kind === "comment") return !hasBrackets(text);
  return kind === "cdata" && !hasMarkup(text);
}

/** Whether a comment has brackets: parsers may disagree whether these are markup. */
function hasBrackets(comment: string): boolean {
  return /[<>]/.test(comment.slice(4, -3));
}

function hasMarkup(cdata: string): boolean {
  return /<\/?[a-z]/i.test(cdata.slice(9, -3));
}

/** Reads the content of a style element as one text, because comments, CDATA and elements may split a word. */
function cleanStyle(source: string, start: number): { text: string; end: number } {
  const pieces: string[] = [];
  let isPlain = true;
  let depth = 0;
  let at = start;
  for (;;) {
    const next = source.indexOf("<", at);
    const end = next < 0 ? source.length : next;
    pieces.push(decodeEntities(source.slice(at, end)));
    at = end;
    const token = next < 0 ? undefined : readToken(source, next);
    if (!token || (token.kind === "close" && token.name === "style" && --depth < 0)) break;
    if (token.kind === "open" && token.name === "style" && !token.isEmpty) depth++;
    if (token.kind === "cdata") pieces.push(token.text.slice(9, -3));
    isPlain &&= token.kind === "cdata" ? !hasMarkup(token.text) : isHarmlessComment(token);
    at = token.end;
  }
  const css = pieces.join("");
  const clean = cleanCss(css);
  return { text: isPlain && clean === css ? source.slice(start, at) : encodeText(clean), end: at };
}

function isHarmlessComment({ kind, text }: Token): boolean {
  return kind === "comment" && !hasBrackets(text) && cleanCss(text) === text;
}

function encodeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("]]>", "]]&gt;");
}

/** A tag with those attributes that may stay. Undefined where the element must go with all that is in it. */
function cleanTag({ text, name }: Token & { kind: "open" }): string | undefined {
  const { head, attributes, tail } = readTag(text);
  // It isn't XML: nobody draws it, and other parsers may find other tags in it.
  if (text.includes("<", 1) || head === "<") return "";
  const read = attributes.map(({ source, key: written, value: encoded }) => {
    const fullKey = written.toLowerCase();
    const key = fullKey.replace(/^.*:/, "");
    // A literal line break in an attribute is read as a space.
    const value = decodeEntities(encoded.replaceAll(/[\t\n\r]/g, " "));
    return { source, written, key, value, clean: cleanValue({ key, fullKey, value }, name) };
  });
  if (ANIMATING.has(name) && setsDanger(read)) return undefined;
  const kept = read.map(({ source, written, value, clean }) => {
    if (clean === undefined) return "";
    return clean === value ? source : ` ${written}="${encodeValue(clean)}"`;
  });
  return head + kept.join("") + tail;
}

/**
 * Whether an animation sets a handler, or a link that isn't to a part of the drawing or a picture in it. By its values as
 * they are and as they are left: a name may come about by what is removed before it.
 */
function setsDanger(attributes: { key: string; value: string; clean: string | undefined }[]): boolean {
  const values = attributes.flatMap(({ key, value, clean = "" }) =>
    [value, clean].map((either) => ({ key, value: either })),
  );
  const targets = values.flatMap(({ key, value }) => (key === "attributename" ? value.trim().toLowerCase() : []));
  if (!targets.some((target) => /href|(?:^|:)on|src/.test(target))) return false;
  const links = values.flatMap(({ key, value }) =>
    key === "values" ? value.split(";") : /^(?:from|to|by)$/.test(key) ? value : [],
  );
  return (
    targets.some((target) => !/^(?:[\w-]+:)?href$/.test(target)) ||
    links.some((link) => !/^\s*(?:#|$|data:image\/(?:png|jpe?g|gif|webp|avif|bmp)[;,])/i.test(link))
  );
}

/** White space too, which may end a string in CSS: as it is, it would be read as a space. */
function encodeValue(value: string): string {
  return value.replaceAll(/[&<>"'\t\n\r]/g, (character) => `&#x${character.charCodeAt(0).toString(16)};`);
}

/** The value that an attribute may have. Undefined where the attribute must go. */
function cleanValue(
  { key, fullKey, value }: { key: string; fullKey: string; value: string },
  name: string,
): string | undefined {
  if (key.startsWith("on") || fullKey === "xml:base") return undefined;
  // Namespace declarations have URLs, but nobody loads these.
  if (fullKey === "xmlns" || fullKey.startsWith("xmlns:")) return value;
  const packed = pack(value);
  if (isRunning(packed)) return undefined;
  if (LINKS.has(key)) return isHarmlessLink(packed, { key, name }) ? value : undefined;
  const clean = cleanCss(value);
  return clean !== value && isRunning(pack(clean)) ? undefined : clean;
}

/** In lower case and without what readers of links leave out. */
function pack(value: string): string {
  // oxlint-disable-next-line no-control-regex
  return value.replaceAll(/[\u0000-\u0020]/g, "").toLowerCase();
}

function isRunning(packed: string): boolean {
  return /(?:java|vb)script:|data:text\/html/.test(packed);
}

function isHarmlessLink(link: string, { key, name }: { key: string; name: string }): boolean {
  if (link === "" || link.startsWith("#")) return true;
  // Only where it leads to: others tell somebody of each click.
  if (name === "a") return key === "href" && /^https?:/.test(link);
  // As a picture whatever it is called: Photoshop writes `data:img/png`.
  return PICTURES.has(name) && link.startsWith("data:");
}
