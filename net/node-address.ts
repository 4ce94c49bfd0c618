/** A node's URL without user and password, and the header with these: neither undici nor fetch makes one of them. */
export type NodeAddress = { url: string; authorization: string | undefined };

/** Splits user and password from a URL. */
export function addressOf(text: string): NodeAddress {
  const url = new URL(text);
  const authorization = authorizationOf(url);
  if (authorization === undefined) return { url: text, authorization };
  url.username = "";
  url.password = "";
  return { url: url.href, authorization };
}

/** Host and port of a URL: its path and query are often a secret. */
export function hostOf(url: string): string {
  return new URL(url).host;
}

/** The Authorization header for a URL's user and password, undefined where it has neither. Source: RFC 7617. */
export function authorizationOf({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  return `Basic ${Buffer.from(`${decode(username)}:${decode(password)}`).toString("base64")}`;
}

/** Text that isn't valid percent-encoding is used as it is. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
