/**
 * Content that is named by its hash or key and served by many: an IPFS path, an IPNS name, an Arweave transaction.
 * `origin`: the project's own gateway, to be asked first.
 */
export type IpfsSource = { kind: "ipfs"; cid: string; path: string; origin?: string };
/** A path below a name, which may come to lead to other content. */
export type IpnsSource = { kind: "ipns"; name: string; path: string; origin?: string };
/** A path below a transaction of Arweave. */
export type ArweaveSource = { kind: "arweave"; id: string; path: string; origin?: string };

/** CIDs of version 0, and those of version 1 in base58, base32, base16 and base36. */
const CID =
  /^(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{50,120}|B[A-Z2-7]{50,120}|z[1-9A-HJ-NP-Za-km-z]{46,100}|f[\da-f]{66,150}|F[\dA-F]{66,150}|k[\da-z]{45,110}|K[\dA-Z]{45,110})$/;
/** CIDs that are keys, not hashes: they are names. Keys of Ed25519, and hashed ones, in base36 and base32. */
const KEY = /^(?:k51qzi5uqu5d|k2k4r8|bafz[ab])/;
/** What is a name among names, though it looks like a CID: hashed keys as they were written before, and base36. */
const OLD_KEY = /^(?:Qm|k)/;

/** Public gateways. The configured gateways are asked instead of them. */
const PUBLIC_GATEWAYS =
  /(?:^|\.)(?:ipfs\.io|dweb\.link|cloudflare-ipfs\.com|cf-ipfs\.com|gateway\.pinata\.cloud|ipfs\.infura\.io|infura-ipfs\.io|nftstorage\.link|w3s\.link|4everland\.io|ipfs\.fleek\.co|hardbin\.com|gateway\.ipfs\.io|ipfs\.dweb\.link|ipfs\.eth\.aragon\.network|cloudflare-ipfs\.dev|ipfs-gateway\.cloud|ipfs\.4everland\.link|trustless-gateway\.link)$/i;
const ARWEAVE_HOSTS =
  /^(?:[a-z0-9_-]+\.)?(?:arweave\.net|ar-io\.net|arweave\.dev|permagate\.io|g8way\.io|arweave\.live|ar\.io)$/i;

/** Parses `/ipfs/CID/path`, `/ipns/name/path`, or a bare CID. `ipfs` may be repeated, as people join it twice. */
export function parseIpfsPath(text: string): IpfsSource | IpnsSource | undefined {
  const [, kind = "ipfs", written = "", path = ""] =
    /^(?:\/*(?:ipfs:?\/+)*(ipfs|ipns):?\/+)?([^/?#\s]+)(.*)$/is.exec(text) ?? [];
  const isCid = CID.test(written);
  // These bases don't distinguish upper and lower case.
  const root = isCid && /^[BFK]/.test(written) ? written.toLowerCase() : written;
  const isName = kind.toLowerCase() === "ipns";
  if (isCid && !(isName && OLD_KEY.test(root)) && !KEY.test(root))
    return { kind: "ipfs", cid: root, path: pathWithin(path) };
  // Not dots alone, which step out of a gateway's paths.
  if ((isName && /^(?!\.+$)[\w.-]+$/.test(root)) || isCid) return { kind: "ipns", name: root, path: pathWithin(path) };
  return undefined;
}

/** The IPFS content behind a gateway's URL, with the CID in path or subdomain. */
export function findIpfsPath(url: string): IpfsSource | IpnsSource | undefined {
  // Most URLs are neither, and this check is faster than parsing them.
  if (!/ip[fn]s/i.test(url) || !URL.canParse(url)) return undefined;
  const { hostname, pathname, search, hash } = new URL(url);
  const [first = "", kind = "", ...rest] = hostname.split(".");
  const isSubdomain = /^ip[fn]s$/.test(kind) && rest.length > 0;
  const inHost = isSubdomain ? `/${kind}/${kind === "ipns" ? nameOfLabel(first) : first}${pathname}` : "";
  const inPath = /^\/+(ip[fn]s)\/(.+)$/is.exec(pathname)?.[0] ?? "";
  // Below a path of the gateway's own, or in a gateway's URL behind that of another.
  const deeper = /^.*(\/ipfs\/[^/]{46,}.*)$/is.exec(pathname)?.[1] ?? "";
  // A gateway's own name may look like a subdomain: gateway.ipfs.io.
  const found = [inHost, inPath, deeper].map((path) => parseIpfsPath(path + search + hash)).find((source) => source);
  if (!found) return undefined;
  // The root is always written without a slash, so that each content has one name only.
  const path = found.path === "/" ? "" : found.path;
  return PUBLIC_GATEWAYS.test(hostname) ? { ...found, path } : { ...found, path, origin: url };
}

/**
 * Decodes a name from one label of a host name, where `.` is `-` and `-` is doubled. Source: IPFS, Subdomain Gateway
 * Specification.
 */
function nameOfLabel(label: string): string {
  return label.replaceAll(/--?/g, (dashes) => (dashes === "-" ? "." : "-"));
}

/** The Arweave transaction behind a gateway's URL. */
export function findArweavePath(url: string): ArweaveSource | undefined {
  if (!/arweave|ar\W?io|permagate|g8way/i.test(url) || !URL.canParse(url)) return undefined;
  const { hostname, pathname, search, hash } = new URL(url);
  if (!ARWEAVE_HOSTS.test(hostname)) return undefined;
  const [, id = "", path = ""] = /^\/(?:raw\/)?([\w-]{43})(\/.*)?$/s.exec(pathname) ?? [];
  return id === "" ? undefined : { kind: "arweave", id, path: pathWithin(path + search + hash) };
}

/** A step up, or none, in a path before its query, however it is written. */
const DOTS = /^[^?]*\/(?:\.|%2e){1,2}(?:[/?]|$)/i;

/**
 * The path of content, for a URL. A step up stays within the content: a URL would step out of it, into other paths of
 * the gateway.
 */
export function pathWithin(path: string): string {
  const safe = withSafePath(path);
  if (!DOTS.test(safe)) return safe;
  const { pathname, search } = new URL(`http://a/${safe.replace(/^\//, "")}`);
  return pathname + search;
}

/** A `?` in the name of a file ("Who am I?.json") and not before a query: an extension follows, and there was none yet. */
const QUESTION = /(?<!\.[a-z\d]{2,5})\?(?=[^=&/]{0,200}\.[a-z][a-z\d]{1,4}$)/gi;
/** A `%` that stands for itself ("100%.json"). Gateways refuse it as it is. */
const PERCENT = /%(?![\da-f]{2})/gi;

/** Where `#` begins a fragment if no file's name follows: after a folder, or a file ("film.mp4#t=10"). */
const FRAGMENT = /(?:\/|\.[a-z][a-z\d]{1,4})#/i;
const FILE_END = /\.[a-z][a-z\d]{1,4}$/i;

/**
 * Encodes a path for a URL. A file's name may have `#`, `?`, `%` and spaces ("Ape #1.json"), where a URL would end or
 * be none. After a page `#` begins a fragment and `?` a query.
 */
export function withSafePath(path: string): string {
  const isPage = /\.html?[?#]|\/\?|^[?#]/i.test(path) || (FRAGMENT.test(path) && !FILE_END.test(path.slice(-6)));
  const kept = isPage ? path.replace(/#.*$/s, "") : path.replaceAll("#", "%23").replaceAll(QUESTION, "%3F");
  return kept.replaceAll(PERCENT, "%25").replaceAll(/[\s"<>\\^`{|}]/g, (character) => encodeURIComponent(character));
}
