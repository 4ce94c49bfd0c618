/** Words for "encrypted, whoever it is" in postgres.js, with which all else here connects. */
const UNVERIFIED = new Set(["allow", "prefer", "require"]);

/** The URL of a database as Ponder's driver takes it to mean the same: that one verifies the certificate at these words. */
export function ponderDatabaseUrl(databaseUrl: string): string {
  const url = URL.parse(databaseUrl);
  if (!url || !UNVERIFIED.has(url.searchParams.get("sslmode") ?? "")) return databaseUrl;
  url.searchParams.set("sslmode", "no-verify");
  return url.href;
}
