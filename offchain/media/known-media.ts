import type { Sql } from "postgres";
import { toBytea } from "../bytea.ts";
import { cutText } from "../text.ts";
import type { MediaFact } from "./media-link.ts";
import type { StoredLink } from "./media-sink.ts";

/** Content of a link that may change is fetched again when it is older than this. */
const FRESH_SECONDS = 600;
const MAX_URI_LENGTH = 2000;

/**
 * What is known of a link. `freshSeconds`: for how long its content needn't be fetched again; 0 or less where it is
 * due. `fetchedAt`: in Unix seconds.
 */
export type KnownMedia = MediaFact & { freshSeconds: number; fetchedAt: number };

/** What is known of links, by their hashes. */
export async function findMedia(sql: Sql, hashes: string[]): Promise<Map<string, KnownMedia>> {
  if (hashes.length === 0) return new Map();
  const rows = await sql<{ hash: string; key: string; mime_type: string; fresh_seconds: number; fetched_at: number }[]>`
    select
      encode(uri_hash, 'hex') as hash,
      key,
      mime_type,
      -- A time of fetching further in the future is from before the clock was set back.
      case
        when fetched_at <= now() + ${FRESH_SECONDS} * interval '1 second'
          then ${FRESH_SECONDS} - extract(epoch from now() - fetched_at)::float8
        else 0
      end as fresh_seconds,
      extract(epoch from fetched_at)::float8 as fetched_at
    from offchain.media
    where uri_hash = any(${hashes.map((hash) => toBytea(`0x${hash}`))}::text[]::bytea[])
  `;
  return new Map(
    rows.map(({ hash, key, mime_type, fresh_seconds, fetched_at }) => [
      hash,
      { key, mimeType: mime_type, freshSeconds: fresh_seconds, fetchedAt: fetched_at },
    ]),
  );
}

/**
 * Notes the key of a link's content, in place of an earlier one. A page doesn't replace an image: any document may name
 * the link as its animation while the server has an error page there.
 */
export async function storeMedia(
  sql: Sql,
  { link, hash, stored }: { link: string; hash: string; stored: StoredLink },
): Promise<void> {
  await sql`
    insert into offchain.media (uri_hash, uri, key, mime_type)
    values (
      ${toBytea(`0x${hash}`)}::text::bytea,
      ${cutText(link, MAX_URI_LENGTH)},
      ${stored.key},
      ${stored.mimeType}
    )
    on conflict (uri_hash) do update set
      key = excluded.key,
      mime_type = excluded.mime_type,
      fetched_at = now()
    where
      excluded.mime_type <> 'text/html'
      or media.mime_type = 'text/html'
  `;
}
