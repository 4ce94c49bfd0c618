/** A node's URL as it is asked, and its user and password as the header that neither undici nor fetch makes of them. */
export type NodeAddress = { url: string; authorization: string | undefined };

/** Takes user and password out of a URL. Source: RFC 7617. */
export function addressOf(text: string): NodeAddress {
  const url = new URL(text);
  const { username, password } = url;
  if (username === "" && password === "") return { url: text, authorization: undefined };
  url.username = "";
  url.password = "";
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { url: url.href, authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
}
