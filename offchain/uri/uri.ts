import { isDataUri, percentDecode } from "./data-uri.ts";
import {
  type ArweaveSource,
  findArweavePath,
  findIpfsPath,
  type IpfsSource,
  type IpnsSource,
  parseIpfsPath,
  withSafePath,
} from "./content-path.ts";
import { cleanText } from "../text.ts";

/** What a URI points at, in one canonical form for each way of writing it. */
export type Source =
  | { kind: "data"; uri: string }
  /** The document itself, as JSON or a drawing, where its URI should be. */
  | { kind: "inline"; text: string }
  | IpfsSource
  | IpnsSource
  | ArweaveSource
  | { kind: "http"; url: string }
  | { kind: "web3"; url: string }
  /** Nothing, or something that is not read here: a scheme or a kind of name that nothing here knows. */
  | { kind: "none"; code: "bad_uri" | "unsupported_uri"; reason: string };

/** Longer ones are refused by most servers. What is longer is content, or nothing. */
export const MAX_URL_LENGTH = 16_384;

/** A URI that stands for nothing. */
const ABSENT = /^(?:null|undefined)?$/i;

/**
 * The start of a link that runs code, as browsers read it: control characters and white space inside a scheme don't
 * count, however many they are.
 */
const SCRIPT = new RegExp(`^(?:${"javascript:|vbscript:".replaceAll(/[a-z:]/g, "[\\u0000-\\u0020]*$&")})`, "i");

/** One character of white space, or one that can't be seen. */
const INVISIBLE = /[\s\u200b-\u200f\u2060\ufeff\0]/u;
const QUOTE = /["'`]/;

/** A document whose beginning is percent-encoded, white space, quotes and a byte order mark in front of it too. */
const ENCODED_DOCUMENT =
  /^(?:%(?:09|0[ad]|20|22|27|60|ef%bb%bf))*(?:%7b|%5b|%3c(?:svg|%3f|\?xml|%21|!)|[{[]|<(?:svg|\?xml|!))/i;

/** Finds out what a token URI or a link means. */
export function parseUri(text: string): Source {
  // A document may end in what would be dirt around a URL, and is megabytes at times.
  const start = startOf(text);
  const head = text.slice(start, start + 64);
  if (isDataUri(head)) return { kind: "data", uri: withoutTail(text, start) };
  if (isInline(head)) return { kind: "inline", text: withoutQuotes(text, start) };
  if (ENCODED_DOCUMENT.test(head)) {
    const decoded = cleanText(percentDecode(withoutTail(text, start)).toString());
    return { kind: "inline", text: withoutQuotes(decoded, startOf(decoded)) };
  }

  const uri = cleanUri(text);
  if (uri.length > MAX_URL_LENGTH) return none(`A URI of ${uri.length} characters.`);
  if (ABSENT.test(uri)) return none("There is no URI.");
  return parseIpfs(uri) ?? parseArweave(uri) ?? parseWeb(uri) ?? parseOther(uri);
}

/** The canonical text of a source, one for all ways of writing it. */
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

/** A link of a document in its own scheme; a relative one resolved against `base`, the document's own URI. */
export function resolveLink(link: string, { base }: { base?: string | undefined }): string {
  if (isDataUri(link) || link === "") return link;
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
  const source = parseUri(base);
  if (source.kind === "http") return URL.canParse(cleaned, source.url) ? new URL(cleaned, source.url).href : cleaned;
  if (source.kind !== "ipfs" && source.kind !== "ipns" && source.kind !== "arweave") return cleaned;
  const root = { ipfs: "ipfs", ipns: "ipns", arweave: "ar" }[source.kind];
  const [authority = ""] = formatSource({ ...source, path: "" })
    .split("://")
    .slice(1);
  if (cleaned.startsWith("//") || !URL.canParse(cleaned, "http://a/")) return cleaned;
  // Resolved as a path below the content's root; ".." can't leave it.
  const { pathname, search } = new URL(withSafePath(cleaned), `http://a${source.path || "/"}`);
  return `${root}://${authority}${pathname}${search}`;
}

/** A link that runs code in the page that shows it is no link. */
export function withoutScript(link: string): string {
  return SCRIPT.test(link) ? "" : link;
}

/** Where white space, quotes and what can't be seen end. */
function startOf(text: string): number {
  return /^[\s"'`\u200b-\u200f\u2060\ufeff\0]*/u.exec(text)![0].length;
}

function isInline(head: string): boolean {
  return /^[{[]/.test(head) || /^<(?:svg|\?xml|!)/i.test(head);
}

/** A document in quotes: as a JSON string it stays one, else the quotes go at both ends. */
function withoutQuotes(text: string, start: number): string {
  const isString = text.includes('\\"') && QUOTE.test(text.slice(0, start));
  return isString ? `"${text.slice(start).trimEnd()}` : withoutTail(text, start);
}

/** From `start` on, without the quotes that stand before it at the end, and what can't be seen. White space stays. */
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

/** By index: an expression for the end is tried at each space of a megabyte, to the end of the spaces each time. */
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
    // A gateway's URL whose scheme was replaced, too.
    return parseIpfsPath(`/${path}`) ?? findIpfsPath(`https://${rest}`) ?? none(`"${uri.slice(0, 200)}" has no CID.`);
  }
  return parseIpfsPath(uri);
}

function parseArweave(uri: string): Source | undefined {
  if (!/^ar:\/*/i.test(uri)) return undefined;
  const [, id = "", path = ""] = /^ar:\/*([^/?#]+)(.*)$/i.exec(uri) ?? [];
  if (/^[\w-]{43}$/.test(id)) return { kind: "arweave", id, path: withSafePath(path) };
  // Names of ArNS live in a contract of another network.
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
  // Never sent to a server. Setting it reads the whole URL again.
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

/** `example.com/1`, a URL whose scheme was forgotten. */
function isHostWithPath(uri: string): boolean {
  return /^(?:[a-z0-9-]+\.)+[a-z]{2,24}(?::\d+)?\//i.test(uri);
}
