/**
 * A database URL for Ponder's driver, which verifies the certificate at `sslmode=require` where ours doesn't, unless it is
 * told to take the word as libpq does. Ponder's process reads it as its own DATABASE_URL: it has to be one that we accept.
 */
export function ponderDatabaseUrl(databaseUrl: string): string {
  const url = URL.parse(databaseUrl);
  if (url?.searchParams.get("sslmode") !== "require") return databaseUrl;
  url.searchParams.set("uselibpqcompat", "true");
  return url.href;
}
