import { hash, randomBytes } from "node:crypto";
import type { ISql, Sql } from "postgres";
import { toArray } from "../sql/database.ts";

/** A new key. Its owner sees `key` only once; lists have `prefix`. */
export type NewKey = { key: string; prefix: string; name: string };

/** A registered key as lists show it. */
export type KeyRow = {
  prefix: string;
  name: string;
  created_at: Date;
  last_used_at: Date | null;
  request_count: number;
  revoked_at: Date | null;
};

/** Who sent a request: the hash of a checked key. */
export type Caller = { keyHash: string; isRegistered: boolean };

const KEY_PREFIX = "nft_";
/** 160 random bits can't be guessed, so a fast hash is enough. */
const KEY_BYTES = 20;
/** How many characters of a key are listed, and name it for revocation. */
export const LISTED_LENGTH = KEY_PREFIX.length + 8;

/** The hash of a key: SHA-256 in hex. */
export const hashKey = (key: string) => hash("sha256", key, "hex");

/** A new key: `nft_` and 40 hex digits. */
export const generateKey = () => KEY_PREFIX + randomBytes(KEY_BYTES).toString("hex");

/** Creates a key and stores its hash. */
export async function createKey(sql: ISql, { name }: { name: string }): Promise<NewKey> {
  for (;;) {
    const key = generateKey();
    const prefix = key.slice(0, LISTED_LENGTH);
    const rows = await sql`
      insert into offchain.api_key (key_hash, prefix, name)
      values (${Buffer.from(hashKey(key), "hex")}, ${prefix}, ${name})
      on conflict do nothing
      returning prefix
    `;
    // Two keys in four thousand million have the same prefix: then another key is made.
    if (rows.length > 0) return { key, prefix, name };
  }
}

const keyColumns = (sql: Sql) => sql`
  prefix,
  name,
  created_at,
  last_used_at,
  request_count::float8 as request_count,
  revoked_at
`;

/** All keys, oldest first. */
export async function listKeys(sql: Sql): Promise<KeyRow[]> {
  return sql<KeyRow[]>`
    select ${keyColumns(sql)}
    from offchain.api_key
    order by
      created_at,
      prefix
  `;
}

/** The key with this hash, revoked or not. Undefined where it was never registered. */
export async function findKey(sql: Sql, { keyHash }: { keyHash: string }): Promise<KeyRow | undefined> {
  const [row] = await sql<KeyRow[]>`
    select ${keyColumns(sql)}
    from offchain.api_key
    where key_hash = ${Buffer.from(keyHash, "hex")}
  `;
  return row;
}

/**
 * Revokes the key that is named by its prefix, or whole, and returns its prefix. Undefined where there is none, or it was
 * revoked before.
 */
export async function revokeKey(sql: Sql, { named }: { named: string }): Promise<string | undefined> {
  const [row] = await sql<{ prefix: string }[]>`
    update offchain.api_key
    set revoked_at = now()
    where
      (prefix = ${named} or key_hash = ${Buffer.from(hashKey(named), "hex")})
      and revoked_at is null
    returning prefix
  `;
  return row?.prefix;
}

/** Whether the key with this hash is registered and not revoked. */
export async function isKeyValid(sql: Sql, { keyHash }: { keyHash: string }): Promise<boolean> {
  const rows = await sql`
    select
    from offchain.api_key
    where
      key_hash = ${Buffer.from(keyHash, "hex")}
      and revoked_at is null
  `;
  return rows.length > 0;
}

/** The hashes of keys that were revoked in the last minute. */
export async function listRevokedLately(sql: Sql): Promise<string[]> {
  const rows = await sql<{ key_hash: string }[]>`
    select encode(key_hash, 'hex') as key_hash
    from offchain.api_key
    where revoked_at > now() - interval '1 minute'
  `;
  return rows.map(({ key_hash }) => key_hash);
}

/** Adds to the counts of how often keys were used. */
export async function addKeyUse(sql: Sql, { counts }: { counts: Map<string, number> }): Promise<void> {
  await sql`
    update offchain.api_key
    set
      request_count = api_key.request_count + used.requests,
      last_used_at = now()
    from unnest(
      ${toArray([...counts.keys()])}::text[],
      ${toArray([...counts.values()])}::bigint[]
    ) as used (key_hash, requests)
    where api_key.key_hash = decode(used.key_hash, 'hex')
  `;
}
