/** A node's URL as it is asked, and its user and password as the header that neither undici nor fetch makes of them. */
export type NodeAddress = { url: string; authorization: string | undefined };

/** Takes user and password out of a URL. */
export function addressOf(text: string): NodeAddress {
  const url = new URL(text);
  const authorization = authorizationOf(url);
  if (authorization === undefined) return { url: text, authorization };
  url.username = "";
  url.password = "";
  return { url: url.href, authorization };
}

/** The header that a URL's user and password make, where it has one of them. Source: RFC 7617. */
export function authorizationOf({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  return `Basic ${Buffer.from(`${decode(username)}:${decode(password)}`).toString("base64")}`;
}

/** What is no encoding of anything is taken as it stands. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
