import type { Sql } from "postgres";
import { type Config, ConfigError } from "../config.ts";
import { isMigrated, migrate } from "../offchain/migrate.ts";
import { withConnection } from "../postgres/pool.ts";
import { exitWith } from "./process.ts";

/** SQLSTATEs of what a role may not do, and of a database that takes no writes. */
const FORBIDDEN = new Set(["42501", "25006"]);
/** A setting that no pooler passes on, because Postgres doesn't tell it of changes. In milliseconds. */
const PROBE = { lock_timeout: 4321 };

/** DATABASE_URL, for the parts that run alone. Where it is missing the process ends with one line. */
export function databaseUrlOrExit({ databaseUrl }: Config): string {
  const expected = "Expected a URL like postgres://user:password@host:5432/name.";
  return databaseUrl ?? exitWith(new ConfigError(`DATABASE_URL is not set. ${expected}`));
}

/** DATABASE_URL of a database that answers. @throws ConfigError where it doesn't */
export async function requireDatabase(config: Config): Promise<string> {
  const url = databaseUrlOrExit(config);
  await checkDatabase(url, nameOfUrl(url));
  return url;
}

/**
 * The name of a DATABASE_READ_URL whose tables are those of an older version still, undefined where there is none.
 *
 * @throws ConfigError where it is set and is no Postgres that answers
 */
export async function findOldReplica({ databaseReadUrl: url }: Config): Promise<string | undefined> {
  if (url === undefined) return undefined;
  const name = nameOfUrl(url, "DATABASE_READ_URL");
  await checkDatabase(url, name);
  return (await withConnection(url, isMigrated)) ? undefined : name;
}

/**
 * Brings our own tables up to date.
 *
 * @throws ConfigError where the role of the URL may not, or where the database isn't one that all parts can work with
 */
export async function prepareDatabase(sql: Sql, { url }: { url: string }): Promise<void> {
  await checkUse(sql, { url });
  await migrate(sql).catch((error: Error & { code?: string }) => {
    if (!FORBIDDEN.has(error.code ?? "")) throw error;
    throw new ConfigError(
      `${nameOfUrl(url)} can't be used (${error.message}). Expected a role that may create schemas there and owns ours.`,
      { cause: error },
    );
  });
}

/** @throws ConfigError that begins with `what` where it doesn't answer, or something else does in its place */
export async function checkDatabase(url: string, what: string): Promise<void> {
  const read = (sql: Sql) => sql<{ version: number; probe: string }[]>`
    select
      current_setting('server_version_num')::int as version,
      current_setting('lock_timeout') as probe
  `;
  const options = { connect_timeout: 10, connection: PROBE };
  const [row] = await withConnection(url, read, options).catch((error: unknown) => {
    const { message, code } = error as Error & { code?: string };
    if (message.includes("startup parameter")) throw poolerError(what, message);
    throw new ConfigError(`${what} is unreachable (${message || code}). Expected a Postgres that answers.`, {
      cause: error,
    });
  });
  if ((row?.version ?? 0) < 150_000)
    throw new ConfigError(`${what} is Postgres ${row?.version}. Expected version 15 or later.`);
  if (row?.probe !== `${PROBE.lock_timeout}ms`) throw poolerError(what, "settings of a session don't reach Postgres");
}

const poolerError = (what: string, why: string) =>
  new ConfigError(`${what} is a pooler (${why}). Expected Postgres itself: our sessions hold settings and locks.`);

/**
 * Checks what no session can set for itself. Names and documents hold characters of all scripts. Postgres 15 and 16 refuse
 * a session that sets transaction_timeout, because they don't know it.
 *
 * @throws ConfigError that says what is to be set
 */
async function checkUse(sql: Sql, { url }: { url: string }): Promise<void> {
  if (new URL(url).host.includes(","))
    throw new ConfigError(`${nameOfUrl(url)} are several hosts. Expected one: Ponder connects to no more.`);
  const [row] = await sql<
    { encoding: string; timeout: string | null; may_make_temporary: boolean; role: string; name: string }[]
  >`
    select
      current_setting('server_encoding') as encoding,
      nullif(current_setting('transaction_timeout', true), '0') as timeout,
      has_database_privilege(current_database(), 'temporary') as may_make_temporary,
      quote_ident(current_user) as role,
      quote_ident(current_database()) as name
  `;
  if (row && row.encoding !== "UTF8")
    throw new ConfigError(
      `${nameOfUrl(url)} has the encoding ${row.encoding}. Expected UTF8, as by: create database NAME template template0 encoding 'UTF8' locale 'C'.`,
    );
  if (row?.timeout)
    throw new ConfigError(
      `${nameOfUrl(url)} ends each transaction after ${row.timeout}. Expected no transaction_timeout, as by: alter role ${row.role} set transaction_timeout = 0.`,
    );
  // All roles may, until that is revoked. History and Ponder do so only where many rows change, which may be much later.
  if (row && !row.may_make_temporary)
    throw new ConfigError(
      `${nameOfUrl(url)} has a role that may make no temporary tables. Expected one that may, as by: grant temporary on database ${row.name} to ${row.role}.`,
    );
}

/** The URL without user, password and parameters, as messages name it. */
export function nameOfUrl(url: string, variable = "DATABASE_URL"): string {
  const { host, pathname } = new URL(url);
  return `${variable} ${decodeURIComponent(host)}${pathname}`;
}
