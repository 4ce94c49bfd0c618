import { decodeEntities, expandEntities } from "./svg-entity.ts";
import { readToken, type Token } from "./svg-token.ts";

/** Elements that run code, embed pages or bring another language in; gone with all that is in them. */
const FORBIDDEN = new Set(
  "script foreignobject iframe frame embed object applet handler listener audio video source track link meta base form input button textarea select math html body template noscript".split(
    " ",
  ),
);
/** Elements that change attributes over time. */
const ANIMATING = new Set(["set", "animate", "animatemotion", "animatetransform", "animatecolor"]);
/** Attributes that hold a link. */
const LINKS = new Set(
  "href src data action formaction ping background poster srcdoc srcset cite longdesc usemap codebase archive classid profile manifest".split(
    " ",
  ),
);
/**
 * A drawing without what runs, loads or tracks: scripts, handlers, foreign content, outside references, document types.
 * One that has none of it comes back byte for byte.
 */
export function sanitizeSvg(text: string): string {
  const source = expandEntities(text);
  const pieces: string[] = [];
  /** The name of a forbidden element that we are inside of, and how often it is nested in itself. */
  let inside: { name: string; depth: number } | undefined;
  let isStyle = false;
  let at = 0;
  while (at < source.length) {
    const start = source.indexOf("<", at);
    const content = source.slice(at, start < 0 ? source.length : start);
    if (!inside) pieces.push(isStyle ? cleanCss(content) : content);
    if (start < 0) break;
    const token = readToken(source, start);
    // A tag without an end: whatever it is, it is the last.
    if (!token) break;
    at = token.end;
    if (token.kind === "open" || token.kind === "close") {
      const { name } = token;
      if (inside) {
        if (name !== inside.name) continue;
        if (token.kind === "open" && !token.isEmpty) inside.depth++;
        if (token.kind === "close" && --inside.depth === 0) inside = undefined;
        continue;
      }
      if (FORBIDDEN.has(name)) {
        if (token.kind === "open" && !token.isEmpty) inside = { name, depth: 1 };
        continue;
      }
      isStyle = name === "style" && token.kind === "open" && !token.isEmpty;
      pieces.push(token.kind === "open" ? cleanTag(token) : token.text);
    } else if (!inside && isKept(token, pieces)) pieces.push(isStyle ? cleanCss(token.text) : token.text);
  }
  return pieces.join("");
}

function isKept({ kind, text }: Token, before: string[]): boolean {
  if (kind === "instruction") return /^<\?xml\s/i.test(text) && before.join("").trim() === "";
  // A comment is text for one parser and markup for another when it has markup in it.
  if (kind === "comment") return !/[<>]/.test(text.slice(4, -3));
  return kind === "cdata" && !/<\/?[a-z]/i.test(text.slice(9, -3));
}

const ATTRIBUTE = /\s+([^\s=>"'/]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s>"']+))?/g;

function cleanTag({ text, name }: Token & { kind: "open" }): string {
  // No XML: nobody draws it, and other parsers find other tags in it.
  if (text.includes("<", 1)) return "";
  const attributes = [...text.matchAll(ATTRIBUTE)].map(([whole, key = "", value = ""]) => ({
    whole,
    key: key.toLowerCase().replace(/^.*:/, ""),
    fullKey: key.toLowerCase(),
    value: decodeEntities(value.replace(/^["']|["']$/g, "")),
  }));
  if (
    ANIMATING.has(name) &&
    attributes.some(({ key, value }) => key === "attributename" && /href|^on|src/i.test(value.trim()))
  )
    return "";
  return attributes.reduce((result, attribute) => {
    if (!isDangerous(attribute, name)) return result;
    return result.replace(attribute.whole, "");
  }, text);
}

function isDangerous({ key, fullKey, value }: { key: string; fullKey: string; value: string }, name: string): boolean {
  if (key.startsWith("on") || fullKey === "xml:base") return true;
  // Declarations name namespaces by URLs, which nobody loads.
  if (fullKey === "xmlns" || fullKey.startsWith("xmlns:")) return false;
  // oxlint-disable-next-line no-control-regex
  const packed = value.replaceAll(/[\u0000-\u0020]/g, "").toLowerCase();
  if (/(?:java|vb)script:|data:text\/html|expression\(|-moz-binding|behavior:/.test(packed)) return true;
  if (LINKS.has(key)) return !isHarmlessLink(packed, name);
  return /url\((?!["']?(?:#|data:image\/))/.test(packed) || packed.includes("@import");
}

function isHarmlessLink(link: string, name: string): boolean {
  if (link === "" || link.startsWith("#")) return true;
  if (name === "a") return /^https?:/.test(link);
  return (
    (name === "image" || name === "feimage") && /^data:image\/(?:png|jpe?g|gif|webp|avif|bmp|svg\+xml)[;,]/.test(link)
  );
}

function cleanCss(css: string): string {
  const packed = decodeEntities(css).replaceAll(/\\|\/\*[\s\S]*?\*\//g, "");
  if (!/@import|url\(|expression\(|behavior|-moz-binding|javascript:/i.test(packed)) return css;
  const isSafe =
    !/@import|expression\(|behavior|-moz-binding|javascript:|url\(\s*(?!["']?\s*(?:#|data:(?:image|font|application\/(?:x-)?font)))/i.test(
      packed,
    );
  // Escapes are for hiding here; a style sheet that needs them along with links goes.
  if (isSafe && !css.includes("\\")) return css;
  return css.includes("\\")
    ? ""
    : css
        .replaceAll(/@import[^;]*(?:;|$)/gi, "")
        .replaceAll(/url\(\s*(?!["']?\s*(?:#|data:(?:image|font|application\/(?:x-)?font)))[^)]*\)/gi, "none")
        .replaceAll(/(?:expression\(|behavior|-moz-binding|javascript:)[^;}]*/gi, "");
}
