import type { Sql } from "postgres";
import type { Hex } from "viem";
import { toBytea } from "../bytea.ts";
import { CLAIM_SECONDS } from "../claim.ts";
import { type Failure, STORE } from "../fetch/failure.ts";
import { mediaPauseSeconds } from "../retry.ts";

/** In a shorter document nothing can have been cut. */
const UNCUT_BYTES = 60_000;

/** A token whose media was claimed. */
export type DueMedia = {
  contract_address: Hex;
  token_id: string;
  /**
   * The document as it is stored. Null where it is large: it isn't kept in memory while its media is waited for, and its
   * links may be cut in it, so that they must be read from the text as received.
   */
  normalized: string | null;
  /** The end of the lease, to the microsecond. It differs once a newer document or claim is there. */
  media_due_at: string;
  media_attempts: number;
  /**
   * When the document was stored, in Unix seconds, where another one may have been there before: content that was fetched
   * earlier may have changed with the document. Null for a token's first document.
   */
  changed_at: number | null;
};

/** A document as it was received, and as it is stored. */
type ReceivedDocument = {
  normalized: string;
  raw: string;
  token_uri: string;
  fetched_from: string | null;
  standard: string | null;
};

/** Claims tokens whose media is due, those that have waited longest first. */
export async function claimDueMedia(
  sql: Sql,
  { chainId, limit }: { chainId: number; limit: number },
): Promise<DueMedia[]> {
  return sql<DueMedia[]>`
    with due as materialized (
      select contract_address, token_id
      from offchain.token_metadata
      where
        chain_id = ${chainId}
        and media_due_at <= now()
      order by media_due_at
      limit ${limit}
      for update skip locked
    ),
    claimed as (
      update offchain.token_metadata m
      set
        media_due_at = now() + ${CLAIM_SECONDS.media} * interval '1 second',
        media_attempts = m.media_attempts + 1
      from due
      where
        m.chain_id = ${chainId}
        and m.contract_address = due.contract_address
        and m.token_id = due.token_id
      returning
        m.contract_address,
        m.token_id,
        m.normalized is not null as is_fetched,
        case
          when greatest(octet_length(m.raw_json), octet_length(m.token_uri)) < ${UNCUT_BYTES} then m.normalized
        end as normalized,
        m.media_due_at::text,
        m.media_attempts,
        case
          -- It is rounded.
          when m.claim > 1 then (m.metadata_updated_at - 0.5)::float8
        end as changed_at
    )
    select
      '0x' || encode(claimed.contract_address, 'hex') as contract_address,
      claimed.token_id,
      claimed.normalized,
      claimed.media_due_at,
      claimed.media_attempts,
      claimed.changed_at
    from claimed
    where claimed.is_fetched
  `;
}

/**
 * What a token's links are read from where they may be stored cut. Read for one token only, because it may have
 * megabytes.
 */
export async function readReceived(
  sql: Sql,
  { network, chainId, due }: { network: string; chainId: number; due: DueMedia },
): Promise<ReceivedDocument | undefined> {
  const [row] = await sql<ReceivedDocument[]>`
    select
      m.normalized,
      m.raw_json::json #>> '{}' as raw,
      m.token_uri,
      m.fetched_from,
      token.standard
    from offchain.token_metadata m
    left join ${sql(`onchain_${network}`)}.token
      on token.contract_address = m.contract_address
      and token.token_id = m.token_id
    where
      m.chain_id = ${chainId}
      and m.contract_address = ${toBytea(due.contract_address)}::text::bytea
      and m.token_id = ${due.token_id}::numeric
      and m.normalized is not null
  `;
  return row;
}

/** A token's document as it is stored, unless a newer document or another claim has come meanwhile. */
export async function readNormalized(
  sql: Sql,
  { chainId, due }: { chainId: number; due: DueMedia },
): Promise<string | undefined> {
  const [row] = await sql<{ normalized: string }[]>`
    select normalized
    from offchain.token_metadata
    where ${isAsClaimed(sql, { chainId, due })}
  `;
  return row?.normalized;
}

/**
 * Writes media into a token's document, unless a newer document or another claim has come meanwhile. `againSeconds`: when
 * it is looked at again though nothing failed.
 */
export async function storeTokenMedia(
  sql: Sql,
  {
    chainId,
    due,
    normalized,
    failure,
    againSeconds,
  }: {
    chainId: number;
    due: DueMedia;
    normalized: string;
    failure: Failure | undefined;
    againSeconds: number | null;
  },
): Promise<void> {
  const pause = failure ? mediaPauseSeconds({ attempts: due.media_attempts, failure }) : againSeconds;
  await sql`
    update offchain.token_metadata
    set
      normalized = ${normalized},
      media_due_at = now() + ${pause}::float8 * interval '1 second',
      media_attempts = case
        when ${failure === undefined} then 0
        -- Our own disk or store says nothing of whether the content can be had.
        when ${failure?.code === STORE} then greatest(media_attempts - 1, 0)
        else media_attempts
      end,
      media_error_code = ${failure?.code ?? null},
      media_error_host = ${failure?.host ?? null}
    where ${isAsClaimed(sql, { chainId, due })}
  `;
}

/** Gives a claim back untried, to be claimed again after some seconds. */
export async function releaseMedia(
  sql: Sql,
  { chainId, due, seconds }: { chainId: number; due: DueMedia; seconds: number },
): Promise<void> {
  await sql`
    update offchain.token_metadata
    set
      media_due_at = now() + ${seconds} * interval '1 second',
      media_attempts = greatest(media_attempts - 1, 0)
    where ${isAsClaimed(sql, { chainId, due })}
  `;
}

/** That a token is due as it was claimed: no newer document, and no other claim, has come meanwhile. */
const isAsClaimed = (sql: Sql, { chainId, due }: { chainId: number; due: DueMedia }) => sql`
  chain_id = ${chainId}
  and contract_address = ${toBytea(due.contract_address)}::text::bytea
  and token_id = ${due.token_id}::numeric
  and media_due_at = ${due.media_due_at}::text::timestamptz
`;
