/** A database URL for Ponder's driver, which verifies the certificate at `sslmode=require` where ours doesn't. */
export function ponderDatabaseUrl(databaseUrl: string): string {
  const url = URL.parse(databaseUrl);
  if (url?.searchParams.get("sslmode") !== "require") return databaseUrl;
  url.searchParams.set("sslmode", "no-verify");
  return url.href;
}
