import type { Sql } from "postgres";
import type { Hex } from "viem";
import { toBytea } from "../bytea.ts";
import { isDropped } from "./dropped-token.ts";

/** At most so many tokens before a token are counted. */
const MAX_PLACES = 10_000;

/** How a token got its metadata, and what is due. */
export type TokenStory = {
  chain_id: number;
  token_uri: string;
  fetched_from: string | null;
  raw_length: number;
  name: string;
  image: string;
  image_key: string;
  image_mime_type: string;
  animation_url: string;
  animation_key: string;
  animation_mime_type: string;
  attributes: number;
  is_fetched: boolean;
  updated_at: Date | null;
  attempted_at: Date | null;
  attempts: number;
  error_code: string | null;
  error_message: string | null;
  error_host: string | null;
  turn: string | null;
  places_before: number | null;
  due_at: Date | null;
  awaiting: boolean;
  is_dropped: boolean;
  refresh_requested_at: Date | null;
  /** How long ago that was by the clock of the database. */
  refresh_seconds_ago: number | null;
  media_due_at: Date | null;
  media_attempts: number;
  media_error_code: string | null;
  media_error_host: string | null;
  contract_name: string;
  /** Why the contract couldn't be asked for its name and standard, and when it is asked again. */
  contract_error_code: string | null;
  contract_due_at: Date | null;
  /** Why the contract's own document, the collection's, couldn't be read, and when it is tried again. */
  contract_uri_error_code: string | null;
  contract_uri_due_at: Date | null;
  uri_function: string | null;
  id_form: string | null;
};

/** The story of a token, one for each chain that has it. */
export async function readTokenStories(
  sql: Sql,
  { contractAddress, tokenId }: { contractAddress: Hex; tokenId: string },
): Promise<TokenStory[]> {
  return sql<TokenStory[]>`
    select
      m.chain_id::float8 as chain_id,
      m.token_uri,
      m.fetched_from,
      length(m.raw_json::json #>> '{}') as raw_length,
      coalesce(document.value ->> 'name', '') as name,
      coalesce(document.value ->> 'image', '') as image,
      coalesce(document.value ->> 'image_key', '') as image_key,
      coalesce(document.value ->> 'image_mime_type', '') as image_mime_type,
      coalesce(document.value ->> 'animation_url', '') as animation_url,
      coalesce(document.value ->> 'animation_key', '') as animation_key,
      coalesce(document.value ->> 'animation_mime_type', '') as animation_mime_type,
      coalesce(json_array_length(document.value -> 'attributes'), 0) as attributes,
      m.normalized is not null as is_fetched,
      to_timestamp(m.metadata_updated_at) as updated_at,
      m.attempted_at,
      m.attempts,
      m.error_code,
      m.error_message,
      m.error_host,
      m.turn,
      (
        select count(*)::int
        from (
          select
          from offchain.token_metadata before
          where
            before.chain_id = m.chain_id
            and before.turn < m.turn
          limit ${MAX_PLACES}
        ) counted
      ) as places_before,
      m.due_at,
      m.awaiting_metadata_update as awaiting,
      ${isDropped(sql, { chainId: sql`m.chain_id` })} as is_dropped,
      m.refresh_requested_at,
      extract(epoch from now() - m.refresh_requested_at)::float8 as refresh_seconds_ago,
      m.media_due_at,
      m.media_attempts,
      m.media_error_code,
      m.media_error_host,
      coalesce(c.name, '') as contract_name,
      c.error_code as contract_error_code,
      c.due_at as contract_due_at,
      c.uri_error_code as contract_uri_error_code,
      c.uri_due_at as contract_uri_due_at,
      c.uri_function,
      c.id_form
    from offchain.token_metadata m
    cross join lateral (select m.normalized::json as value) document
    left join offchain.contract_metadata c
      on c.chain_id = m.chain_id
      and c.contract_address = m.contract_address
    where
      m.chain_id in (select chain_id from offchain.network)
      and m.contract_address = ${toBytea(contractAddress)}::text::bytea
      and m.token_id = ${tokenId}::numeric
    order by m.chain_id
  `;
}

/** How many tokens come before a waiting token, as text. */
export function placesText({ places_before }: TokenStory): string {
  const count = places_before ?? 0;
  return `${count === MAX_PLACES ? "10,000 or more" : count} tokens before it`;
}
