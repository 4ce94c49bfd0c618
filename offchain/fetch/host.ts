/** host:port, with the port always there, as limits and exemptions name it. */
export function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
}

/** The same of a text. Empty where it is no URL. */
export function hostAndPortOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? hostAndPort(parsed) : "";
}
