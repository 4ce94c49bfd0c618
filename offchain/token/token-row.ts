import type { TransactionSql } from "postgres";
import { toBytea } from "../bytea.ts";
import type { Failure } from "../fetch/failure.ts";
import { isFit, isMutableLink, linksOf, roleOf } from "../media/media-link.ts";
import type { KnownMedia } from "../media/known-media.ts";
import type { CountChange } from "./metadata-count.ts";
import { documentPauseSeconds, SECOND_LOOK_SECONDS } from "../retry.ts";
import { type StoredDocument, textWithMedia } from "../document/stored-document.ts";
import { cleanText, cutText } from "../text.ts";
import type { ClaimedToken, Counted } from "./token-queue.ts";

/** The outcome of one claimed token. */
export type TokenOutcome = {
  token: ClaimedToken;
  /** Undefined where the URI couldn't be read. */
  uri: string | undefined;
  result: StoredDocument | Failure;
  /** What has worked, to be remembered for the contract. */
  uriFunction?: string | null;
  idForm?: string | undefined;
};

/** The row in the form in which many are written by one statement. */
export type TokenRow = ReturnType<typeof toTokenRow>;

const MAX_MESSAGE_LENGTH = 300;
/** Control characters that are in no document: to join values by, and to stand for null. */
const SEPARATORS = ["\u001e", "\u001f", "\u001d", "\u0002"];
const ABSENT = "\u0003";

/** The row's columns, with their types. */
const TYPES = {
  contract_address: "bytea",
  token_id: "numeric",
  claim: "integer",
  token_uri: "text",
  raw_json: "text",
  normalized: "text",
  fetched_from: "text",
  is_stored: "boolean",
  is_blank: "boolean",
  due_in: "float8",
  media_due_in: "float8",
  error_code: "text",
  error_message: "text",
  error_host: "text",
  counted_as: "text",
  counted_before: "text",
  error_code_before: "text",
  error_host_before: "text",
} satisfies Record<keyof Omit<TokenRow, "change">, string>;
const NAMES = Object.keys(TYPES) as (keyof typeof TYPES)[];

/** The row for an outcome. `media`: what is known of media, by the hash of the link. */
export function toTokenRow({ token, uri, result }: TokenOutcome, media: Map<string, KnownMedia>) {
  const document = result.kind === "document" ? result : undefined;
  const { isBlank = false, isPage = false } = document ?? {};
  const fault: Omit<Failure, "kind"> | undefined =
    result.kind === "failure"
      ? result
      : isBlank && token.is_fetched
        ? { code: "empty_document", host: "", message: "The document became empty; the one before is kept." }
        : undefined;
  const isStored = document !== undefined && fault === undefined;
  // For some seconds after a restart of the indexer it lacks tokens whose blocks aren't final: what {id} means is unknown.
  const isPreliminary = isBlank || isPage || token.standard === null;
  const counted_as: Counted = isStored ? "fetched" : token.is_fetched ? "stale" : "failing";
  return {
    contract_address: toBytea(token.contract_address),
    token_id: token.token_id,
    claim: token.claim,
    token_uri: uri === undefined ? null : cleanText(uri),
    raw_json: isStored ? document.raw_json : null,
    normalized: isStored ? textWithMedia(document, media) : null,
    fetched_from: isStored ? document.from.slice(0, 2000) : null,
    // As text, because the driver sends an array of booleans as one boolean.
    is_stored: String(isStored),
    is_blank: String(isBlank),
    due_in: documentPauseSeconds({ attempts: token.attempts, failure: fault, isPreliminary }),
    media_due_in: isStored ? mediaPause(document, media, token) : null,
    error_code: fault?.code ?? null,
    error_message: fault ? cutText(cleanText(fault.message), MAX_MESSAGE_LENGTH) : null,
    error_host: fault?.host ?? null,
    counted_as,
    counted_before: token.counted_as,
    error_code_before: token.error_code,
    error_host_before: token.error_code === null ? null : token.error_host,
    change: {
      before: token.counted_as && { state: token.counted_as, code: token.error_code, host: token.error_host },
      after: { state: counted_as, code: fault?.code ?? null, host: fault?.host ?? null },
    } satisfies CountChange,
  };
}

/**
 * Seconds until a document's media is due, null where nothing is. Missing media, and media that may have changed since it
 * was fetched, is due at once. Where a document came before, so is what can't change, as the store may have lost it, and
 * media that was fetched a moment ago (another token may have the same link) is due once it isn't fresh any more.
 */
function mediaPause(
  { hashes, links }: StoredDocument,
  media: Map<string, KnownMedia>,
  { is_fetched }: ClaimedToken,
): number | null {
  const pauses = linksOf(links).flatMap((link) => {
    const known = media.get(hashes.get(link) ?? "");
    if (!known || !isFit(known, roleOf(link, links))) return [0];
    const isMutable = isMutableLink(link);
    const freshSeconds = isMutable ? Math.max(known.freshSeconds, 0) : 0;
    const isSettled = !is_fetched && (!isMutable || freshSeconds > 0);
    return isSettled ? [] : [freshSeconds];
  });
  if (pauses.length === 0) return null;
  return pauses.includes(0) ? 0 : Math.max(...pauses);
}

/**
 * Writes rows in their order, and returns how many. Rows with the outcome of a later claim, or with another counter
 * than expected, are left out. A failure doesn't change an earlier document.
 */
export async function updateTokens(
  tx: TransactionSql,
  { chainId, rows }: { chainId: number; rows: TokenRow[] },
): Promise<number> {
  // Joined to one text, because an array would escape each quote, and documents are full of quotes.
  const column = (key: keyof typeof TYPES) => {
    const texts = rows.map((row) => row[key]?.toString() ?? null);
    // A single text isn't joined: it may have megabytes.
    if (texts.length === 1) return tx`array[${texts[0]!}::text]`;
    const separator = SEPARATORS.find((mark) => !texts.some((text) => text?.includes(mark)));
    if (separator === undefined || texts.includes(ABSENT)) return tx`${texts as string[]}::text[]`;
    const text = texts.map((each) => each ?? ABSENT).join(separator);
    return tx`string_to_array(${text}::text, ${separator}::text, ${ABSENT}::text)`;
  };
  const columns = NAMES.map(
    (name, place) => tx`${tx.unsafe(place === 0 ? "" : ",")} ${column(name)}::${tx.unsafe(TYPES[name])}[]`,
  );
  const { count } = await tx`
    update offchain.token_metadata m
    set
      token_uri = coalesce(row.token_uri, m.token_uri),
      raw_json = coalesce(row.raw_json, m.raw_json),
      normalized = coalesce(row.normalized, m.normalized),
      fetched_from = coalesce(row.fetched_from, m.fetched_from),
      metadata_updated_at = case
        when row.is_stored then extract(epoch from now())::bigint
        else m.metadata_updated_at
      end,
      stored_claim = row.claim,
      -- Asked for or claimed again meanwhile: it is still awaited, and keeps its turn or lease.
      awaiting_metadata_update = m.turn is not null or m.claim > row.claim,
      due_at = case
        when m.turn is not null or m.claim > row.claim then m.due_at
        -- The URI of before, or maybe that of a change just before: a node that lags may have said it.
        when row.due_in is null
          and m.is_update_unseen
          and (
            row.token_uri = m.token_uri
            or m.metadata_updated_at > extract(epoch from now()) - ${SECOND_LOOK_SECONDS}
          )
          then now() + ${SECOND_LOOK_SECONDS} * interval '1 second'
        else now() + row.due_in * interval '1 second'
      end,
      is_update_unseen = m.is_update_unseen and (m.turn is not null or m.claim > row.claim),
      attempts = case
        when m.claim = row.claim and row.is_stored and row.due_in is null then 0
        else m.attempts
      end,
      media_due_at = case
        when row.is_stored then now() + row.media_due_in * interval '1 second'
        -- Asked for: the store may have lost what the document that stays names.
        when m.awaiting_metadata_update and m.normalized is not null then least(m.media_due_at, now())
        else m.media_due_at
      end,
      media_attempts = case when row.is_stored then 0 else m.media_attempts end,
      media_error_code = case when row.is_stored then null else m.media_error_code end,
      media_error_host = case when row.is_stored then null else m.media_error_host end,
      is_blank = case when row.is_stored then row.is_blank else m.is_blank end,
      error_code = row.error_code,
      error_message = row.error_message,
      error_host = row.error_host,
      counted_as = row.counted_as
    from unnest(${columns}) as row (${tx(NAMES)})
    where
      m.chain_id = ${chainId}
      and m.contract_address = row.contract_address
      and m.token_id = row.token_id
      and m.stored_claim < row.claim
      -- A lower claim in the table than ours: the row is another chain's.
      and m.claim >= row.claim
      and m.counted_as is not distinct from row.counted_before
      and m.error_code is not distinct from row.error_code_before
      and (m.error_code is null or m.error_host is not distinct from row.error_host_before)
  `;
  return count;
}
