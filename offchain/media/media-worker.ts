import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { numberToHex } from "viem";
import { toDocument } from "../document/document.ts";
import type { Failure, Postponed } from "../fetch/failure.ts";
import type { MediaFetcher } from "./media-fetch.ts";
import { applyMedia, hashLink, isMutableLink, linksOf, type MediaFact } from "./media-link.ts";
import {
  claimDueMedia,
  type DueMedia,
  findMedia,
  type KnownMedia,
  releaseMedia,
  storeMedia,
  storeTokenMedia,
} from "./media-queue.ts";
import type { Normalized } from "../document/normalize.ts";
import { parseUri } from "../uri/uri.ts";

const BATCH_SIZE = 50;
const IDLE_MS = 500;
/** How long what is under way may take when the process is asked to end. */
const GRACE_MS = 2000;
/** Shorter documents can't have had anything cut. */
const UNCUT_LENGTH = 60_000;

export type MediaWorkerOptions = {
  network: string;
  chainId: number;
  fetchMedia: MediaFetcher;
  /** Tokens under way at a time. */
  concurrency: number;
  signal: AbortSignal;
  /** Returns when nothing is due, for tests. */
  isOneShot?: boolean;
};

type LinkOutcome = KnownMedia | MediaFact | Failure | Postponed;

/** Fetches what documents point at, and writes keys and types into them, until the signal. */
export async function runMediaWorker(sql: Sql, options: MediaWorkerOptions): Promise<void> {
  const { network, chainId, concurrency, signal, isOneShot = false } = options;
  const underWay = new Set<Promise<void>>();
  const claims = new Set<DueMedia>();
  // Ten thousand tokens with one placeholder fetch it once.
  const fetching = new Map<string, Promise<LinkOutcome>>();
  while (!signal.aborted) {
    if (underWay.size >= concurrency) {
      await Promise.race(underWay);
      continue;
    }
    const claimed = await claimDueMedia(sql, {
      network,
      chainId,
      limit: Math.min(BATCH_SIZE, concurrency - underWay.size),
    });
    for (const due of claimed) {
      claims.add(due);
      const task: Promise<void> = completeMedia(sql, due, { ...options, fetching })
        .catch((error: unknown) => {
          // What was under way at the end was given back.
          if (!signal.aborted)
            console.error("worker: can't store media:", error instanceof Error ? error.message : error);
        })
        .finally(() => {
          underWay.delete(task);
          claims.delete(due);
        });
      underWay.add(task);
    }
    if (claimed.length > 0) continue;
    if (isOneShot && underWay.size === 0) return;
    await Promise.race([
      sleep(isOneShot ? 10 : IDLE_MS, undefined, { signal }).catch(() => {}),
      ...(isOneShot ? underWay : []),
    ]);
  }
  await Promise.race([Promise.allSettled(underWay), sleep(GRACE_MS)]);
  for (const due of claims) await releaseMedia(sql, { chainId, due, seconds: 0 });
}

type Context = MediaWorkerOptions & { fetching: Map<string, Promise<LinkOutcome>> };

async function completeMedia(sql: Sql, due: DueMedia, context: Context): Promise<void> {
  const { chainId } = context;
  const stored = JSON.parse(due.normalized) as Normalized;
  const whole = await findWhole(due, stored);
  const links = linksOf(whole);
  const outcomes = await Promise.all(
    links.map((link) =>
      findOrFetch(sql, { link, role: link === whole.animation_url ? "animation" : "image", context }),
    ),
  );
  const postponed = outcomes.find((outcome) => "kind" in outcome && outcome.kind === "postponed");
  const failure = outcomes.find((outcome) => "kind" in outcome && outcome.kind === "failure");
  if (postponed && !failure && outcomes.length === 1)
    return releaseMedia(sql, { chainId, due, seconds: postponed.seconds });
  const facts = new Map(links.map((link, i) => [link, toFact(outcomes[i]!)]));
  const normalized = applyMedia(stored, { whole, factOf: (link) => facts.get(link) });
  const fault =
    failure ?? (postponed && { kind: "failure" as const, code: "postponed", host: postponed.host, message: "" });
  await storeTokenMedia(sql, { chainId, due, normalized: JSON.stringify(normalized), failure: fault });
}

/** Whoever comes while it is looked for waits for the same: looked for apart, one could miss what the other stores. */
function findOrFetch(
  sql: Sql,
  { link, role, context }: { link: string; role: "image" | "animation"; context: Context },
): Promise<LinkOutcome> {
  const hash = hashLink(link);
  const key = `${role} ${hash}`;
  const running = context.fetching.get(key);
  if (running) return running;
  const found = findOrFetchOnce(sql, { link, hash, role, context }).finally(() => void context.fetching.delete(key));
  context.fetching.set(key, found);
  return found;
}

async function findOrFetchOnce(
  sql: Sql,
  { link, hash, role, context }: { link: string; hash: string; role: "image" | "animation"; context: Context },
): Promise<LinkOutcome> {
  const known = (await findMedia(sql, [hash])).get(hash);
  if (known && (known.isFresh || !isMutableLink(link))) return known;
  const outcome = await context.fetchMedia(link, { chainId: context.chainId, role });
  // What was good before stays where it can't be had again.
  if (outcome.kind !== "stored") return known ?? outcome;
  await storeMedia(sql, { link, stored: outcome });
  return { key: outcome.key, mimeType: outcome.mimeType };
}

function toFact(outcome: LinkOutcome): MediaFact | undefined {
  return "kind" in outcome ? undefined : outcome;
}

/** The document with its links uncut: from the text as received, where the stored one may be cut. */
async function findWhole(due: DueMedia, stored: Normalized): Promise<Normalized> {
  if (due.raw.length < UNCUT_LENGTH && due.token_uri.length < UNCUT_LENGTH) return stored;
  const source = parseUri(due.token_uri);
  const base = source.kind === "http" ? (due.fetched_from ?? due.token_uri) : due.token_uri;
  const hexTokenId = due.standard === "ERC1155" ? numberToHex(BigInt(due.token_id), { size: 32 }).slice(2) : undefined;
  const received = { texts: [due.raw], bytes: Buffer.from(due.raw), contentType: undefined, base, isAuthentic: true };
  const document = await toDocument(received, hexTokenId === undefined ? {} : { hexTokenId });
  return document.kind === "document" ? document.whole : stored;
}
