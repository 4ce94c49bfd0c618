import { isDataUri, percentDecode } from "./data-uri.ts";
import {
  type ArweaveSource,
  findArweavePath,
  findIpfsPath,
  type IpfsSource,
  type IpnsSource,
  parseIpfsPath,
  pathWithin,
  withSafePath,
} from "./content-path.ts";
import { cleanText } from "../text.ts";

/** What a URI points at. All ways of writing the same URI give the same source. */
export type Source =
  | { kind: "data"; uri: string }
  /** The document itself in place of its URI, as JSON, a drawing or a page. */
  | { kind: "inline"; text: string }
  | IpfsSource
  | IpnsSource
  | ArweaveSource
  | { kind: "http"; url: string }
  | { kind: "web3"; url: string }
  /** No URI, or one that isn't supported: an unknown scheme or kind of name. */
  | { kind: "none"; code: "bad_uri" | "unsupported_uri"; reason: string };

/** Most servers refuse longer URLs. A longer text is content, or nothing. */
export const MAX_URL_LENGTH = 16_384;

/** A text that stands for no URI. */
const ABSENT = /^(?:null|undefined)?$/i;

/**
 * The beginning of a link that runs code, as browsers read it: they ignore any number of control characters and white
 * space within the scheme.
 */
const SCRIPT = new RegExp(`^(?:${"javascript:|vbscript:".replaceAll(/[a-z:]/g, "[\\u0000-\\u0020]*$&")})`, "i");

/** What somebody put before a URI that has a scheme already. */
const SECOND_SCHEME = /^(?:https?:\/\/)+(?=(?:https?|ip[fn]s|ar):\/\/)/i;

/** A character of white space, or an invisible one. */
const INVISIBLE = /[\s\u200b-\u200f\u2060\ufeff\0]/u;
const QUOTE = /["'`]/;

/** A document whose beginning is percent-encoded. White space, quotes and a byte order mark may come before it. */
const ENCODED_DOCUMENT =
  /^(?:%(?:09|0[ad]|20|22|27|60|ef%bb%bf))*(?:%7b|%5b|%3c(?:svg|html|%3f|\?xml|%21|!)|[{[]|<(?:svg|html|\?xml|!))/i;

/** Parses a token URI or a link. */
export function parseUri(text: string): Source {
  // An inline document may end in characters that would be removed from a URL, and may have megabytes.
  const start = startOf(text);
  const head = text.slice(start, start + 64);
  if (isDataUri(head)) return { kind: "data", uri: withoutTail(text, start) };
  if (isInline(head)) return { kind: "inline", text: withoutQuotes(text, start) };
  if (ENCODED_DOCUMENT.test(head)) {
    const decoded = cleanText(percentDecode(withoutTail(text, start)).toString());
    return { kind: "inline", text: withoutQuotes(decoded, startOf(decoded)) };
  }

  const uri = cleanUri(text).replace(SECOND_SCHEME, "");
  if (uri.length > MAX_URL_LENGTH) return none(`A URI of ${uri.length} characters.`);
  if (ABSENT.test(uri)) return none("There is no URI.");
  return parseIpfs(uri) ?? parseArweave(uri) ?? parseWeb(uri) ?? parseOther(uri);
}

/** The canonical text of a source. */
export function formatSource(source: Source): string {
  switch (source.kind) {
    case "data":
      return source.uri;
    case "inline":
      return source.text;
    case "ipfs":
      return `ipfs://${source.cid}${source.path}`;
    case "ipns":
      return `ipns://${source.name}${source.path}`;
    case "arweave":
      return `ar://${source.id}${source.path}`;
    case "http":
    case "web3":
      return source.url;
    case "none":
      return "";
  }
}

/**
 * A document's link in its own scheme. Relative links are resolved against `base`, the document's URI. A drawing or page
 * in place of a link stays as it is.
 */
export function resolveLink(link: string, { base }: { base?: string | undefined }): string {
  if (isDataUri(link) || isMarkup(link) || link === "") return link;
  const cleaned = withoutScript(cleanUri(link));
  if (
    cleaned === "" ||
    cleaned.length > MAX_URL_LENGTH ||
    base === undefined ||
    isDataUri(base) ||
    hasScheme(cleaned) ||
    parseIpfsPath(cleaned) !== undefined
  )
    return cleaned;
  if (isForeignHost(cleaned)) return `https://${cleaned}`;
  const source = parseUri(base);
  if (source.kind === "http") return URL.canParse(cleaned, source.url) ? new URL(cleaned, source.url).href : cleaned;
  if (source.kind !== "ipfs" && source.kind !== "ipns" && source.kind !== "arweave") return cleaned;
  const root = { ipfs: "ipfs", ipns: "ipns", arweave: "ar" }[source.kind];
  const [authority = ""] = formatSource({ ...source, path: "" })
    .split("://")
    .slice(1);
  if (cleaned.startsWith("//") || !URL.canParse(cleaned, "http://a/")) return cleaned;
  // Resolved as a path below the content's root, so that ".." can't leave it.
  const { pathname, search } = new URL(withSafePath(cleaned), `http://a${source.path || "/"}`);
  return `${root}://${authority}${pathname}${search}`;
}

/** The link, empty where it would run code in the page that shows it. */
export function withoutScript(link: string): string {
  return SCRIPT.test(link) ? "" : link;
}

/** Where white space, quotes and invisible characters at the beginning end. */
function startOf(text: string): number {
  return /^[\s"'`\u200b-\u200f\u2060\ufeff\0]*/u.exec(text)![0].length;
}

function isInline(head: string): boolean {
  return /^[{[]/.test(head) || isMarkup(head);
}

function isMarkup(text: string): boolean {
  return /^<(?:svg|html|\?xml|!)/i.test(text);
}

/** An inline document without quotes around it. One that is a JSON string stays one. */
function withoutQuotes(text: string, start: number): string {
  const isString = text.includes('\\"') && QUOTE.test(text.slice(0, start));
  return isString ? `"${text.slice(start).trimEnd()}` : withoutTail(text, start);
}

/**
 * Text from `start` on, without invisible characters at the end, and without the quotes there that also stand before
 * `start`. White space stays.
 */
function withoutTail(text: string, start: number): string {
  let end = text.length;
  while (end > start && INVISIBLE.test(text[end - 1]!)) end--;
  let quotes = text.slice(0, start).replaceAll(/[^"'`]/g, "").length;
  while (quotes-- > 0 && end > start && QUOTE.test(text[end - 1]!)) end--;
  return text.slice(start, text.slice(end).trim() === "" ? undefined : end);
}

function cleanUri(text: string): string {
  const trimmed = withoutEnds(text, INVISIBLE);
  const unquoted = QUOTE.test(trimmed[0] ?? "") ? withoutEnds(trimmed, QUOTE) : trimmed;
  return unquoted.replaceAll(/[\u200b-\u200f\u2060\ufeff\0\t\r\n]/gu, "").trim();
}

/**
 * Trims both ends by index: a regular expression for the end is tried at each space of a megabyte, up to the end of the
 * spaces.
 */
function withoutEnds(text: string, dirt: RegExp): string {
  let start = 0;
  let end = text.length;
  while (start < end && dirt.test(text[start]!)) start++;
  while (end > start && dirt.test(text[end - 1]!)) end--;
  return text.slice(start, end);
}

function hasScheme(uri: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(uri) && !/^[a-z0-9.-]+:\d+(?:\/|$)/i.test(uri);
}

function parseIpfs(uri: string): Source | undefined {
  const scheme = /^(ipfs|ipns):\/*/i.exec(uri);
  if (scheme) {
    const rest = uri.slice(scheme[0].length);
    if (/^https?:\/\//i.test(rest)) return parseUri(rest);
    const kind = scheme[1]!.toLowerCase();
    const path = /^ip[fn]s:?\//i.test(rest) ? rest : `${kind}/${rest}`;
    // Also where somebody replaced the scheme of a gateway's URL.
    return parseIpfsPath(`/${path}`) ?? findIpfsPath(`https://${rest}`) ?? none(`"${uri.slice(0, 200)}" has no CID.`);
  }
  return parseIpfsPath(uri);
}

function parseArweave(uri: string): Source | undefined {
  if (!/^ar(?:weave)?:/i.test(uri)) return undefined;
  const [, id = "", path = ""] = /^ar(?:weave)?:\/*([^/?#]+)(.*)$/i.exec(uri) ?? [];
  if (/^[\w-]{43}$/.test(id)) return { kind: "arweave", id, path: pathWithin(path) };
  // ArNS names are in a contract on another network.
  const isName = /^[a-z\d](?:[a-z\d_-]{0,50}[a-z\d])?$/i.test(id);
  return none(`"${uri.slice(0, 200)}" has no transaction id.`, isName ? "unsupported_uri" : "bad_uri");
}

function parseWeb(uri: string): Source | undefined {
  if (/^(?:web3|w3|eth-web3|ethereum-web3):\/\//i.test(uri)) return { kind: "web3", url: uri };
  const url = isWeb(uri)
    ? uri
    : uri.startsWith("//")
      ? `https:${uri}`
      : isHostWithPath(uri)
        ? `https://${uri}`
        : undefined;
  if (url === undefined) return undefined;
  const content = findIpfsPath(url) ?? findArweavePath(url);
  if (content) return content;
  const parsed = URL.parse(url);
  if (!parsed) return undefined;
  // The fragment is never sent. Assigning it makes the whole URL parse again, so it is only done where there is one.
  if (parsed.href.includes("#")) parsed.hash = "";
  return { kind: "http", url: parsed.href };
}

function parseOther(uri: string): Source {
  return none(`Can't read "${uri.slice(0, 200)}".`, hasScheme(uri) && !isWeb(uri) ? "unsupported_uri" : "bad_uri");
}

function none(reason: string, code: "bad_uri" | "unsupported_uri" = "bad_uri"): Source {
  return { kind: "none", code, reason };
}

function isWeb(uri: string): boolean {
  return /^https?:/i.test(uri);
}

/** Whether a link in a document begins with a host for sure: a folder's name may have a dot, too. */
function isForeignHost(link: string): boolean {
  if (!isHostWithPath(link)) return false;
  const found = findIpfsPath(`https://${link}`) ?? findArweavePath(`https://${link}`);
  return /^www\./i.test(link) || (found !== undefined && found.origin === undefined);
}

/** Whether text is `example.com/1`, a URL without its scheme. */
function isHostWithPath(uri: string): boolean {
  return /^(?:[a-z0-9-]+\.)+[a-z]{2,24}(?::\d+)?\//i.test(uri);
}
