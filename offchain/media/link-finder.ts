import type { Sql } from "postgres";
import type { Hex } from "viem";
import { tellFault } from "../fault.ts";
import { type Failure, failure, type Postponed, STORE } from "../fetch/failure.ts";
import { findMedia, type KnownMedia, storeMedia } from "./known-media.ts";
import type { MediaFetcher } from "./media-fetch.ts";
import { hashLink, isFit, isMutableLink, type MediaFact, type MediaRole } from "./media-link.ts";
import type { MediaStore } from "./media-store.ts";

/**
 * What is known of a link now, and why it couldn't be fetched anew. `fresh`: it wasn't, because it is fresh though it may
 * change.
 */
export type LinkOutcome = { fact?: MediaFact; fault?: Failure | Postponed; fresh?: KnownMedia };

/** A link that is needed for a token of `contract`. */
type Wanted = { link: string; role: MediaRole; contract: Hex };

/** Finds a link's content in the store, or fetches it. */
export type LinkFinder = (wanted: Wanted) => Promise<LinkOutcome>;

type LinkFinderOptions = {
  chainId: number;
  fetchMedia: MediaFetcher;
  /** Whether the store has content under a key. */
  hasMedia: MediaStore["has"];
};

/**
 * Creates a finder. Whoever needs a link while it is being found waits for the same, so that ten thousand tokens with one
 * placeholder fetch it once: a separate look-up could miss what is just being stored.
 */
export function createLinkFinder(sql: Sql, options: LinkFinderOptions): LinkFinder {
  const running = new Map<string, Promise<LinkOutcome>>();
  return (wanted) => {
    const hash = hashLink(wanted.link, options);
    const key = `${wanted.role} ${hash}`;
    const found =
      running.get(key) ?? findOrFetch(sql, { ...wanted, ...options, hash }).finally(() => void running.delete(key));
    running.set(key, found);
    return found;
  };
}

async function findOrFetch(
  sql: Sql,
  { link, hash, role, contract, chainId, fetchMedia, hasMedia }: Wanted & LinkFinderOptions & { hash: string },
): Promise<LinkOutcome> {
  const found = (await findMedia(sql, [hash])).get(hash);
  const known = found && isFit(found, role) ? found : undefined;
  const isMutable = isMutableLink(link);
  // An operator may have deleted it, restored an older backup, or set another store. One that doesn't answer may have it.
  const isStored = ({ key }: MediaFact) => hasMedia(key).catch(() => true);
  if (known && (!isMutable || known.freshSeconds > 0) && (await isStored(known)))
    return { fact: known, ...(isMutable && { fresh: known }) };
  const outcome = await fetchMedia(link, { chainId, role, contract });
  // Once a project's domain is another one's, it answers every URL with a page.
  if (outcome.kind === "stored" && known && isPage(outcome) && !isPage(known))
    return { fact: known, fault: failure("not_media", `${outcome.from.slice(0, 100)} is a page.`) };
  if (outcome.kind === "stored") {
    await storeMedia(sql, { link, hash, stored: outcome });
    return { fact: { key: outcome.key, mimeType: outcome.mimeType } };
  }
  if (outcome.kind === "failure" && outcome.code === STORE) tellFault("can't store media", outcome.message);
  // Content that can't be fetched again now stays as it was, and is tried again.
  return known ? { fact: known, fault: outcome } : { fault: outcome };
}

const isPage = ({ mimeType }: { mimeType: string }) => mimeType === "text/html";
