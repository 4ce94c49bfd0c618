/** The URL of a database as Ponder's driver takes it to mean the same: that one verifies the certificate at "require". */
export function ponderDatabaseUrl(databaseUrl: string): string {
  const url = URL.parse(databaseUrl);
  if (url?.searchParams.get("sslmode") !== "require") return databaseUrl;
  url.searchParams.set("sslmode", "no-verify");
  return url.href;
}
