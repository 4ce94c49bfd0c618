/** A URL's host:port, always with the port, as limits and exemptions name hosts. */
export function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
}

/** The host:port of a URL as text. Empty where it is no URL. */
export function hostAndPortOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? hostAndPort(parsed) : "";
}
