import { setTimeout as sleep } from "node:timers/promises";
import PQueue from "p-queue";
import type { Sql } from "postgres";
import type { Hex } from "viem";
import { toDocument } from "../document/document.ts";
import { createLinkFinder, type LinkFinder, type LinkOutcome } from "./link-finder.ts";
import type { MediaFetcher } from "./media-fetch.ts";
import {
  applyMedia,
  hashLink,
  isMoved,
  isPictureNow,
  linksOf,
  type MediaLinks,
  roleOf,
  spareOf,
} from "./media-link.ts";
import {
  claimDueMedia,
  type DueMedia,
  readNormalized,
  readReceived,
  releaseMedia,
  storeTokenMedia,
} from "./media-queue.ts";
import type { MediaStore } from "./media-store.ts";
import type { Normalized } from "../document/normalize.ts";
import { hexTokenIdOf } from "../token/token-uri.ts";
import { formatSource, MAX_URL_LENGTH, parseUri } from "../uri/uri.ts";
import { tellFault } from "../fault.ts";

const BATCH_SIZE = 50;
/**
 * How many tokens are under way at most, as a multiple of the concurrency: more than there are places for fetches, so
 * that those of a contract whose hosts are slow leave room for others.
 */
const UNDER_WAY_FACTOR = 4;
const IDLE_MS = 500;
/** How long pending fetches may take when the process is asked to end. */
const GRACE_MS = 2000;

type MediaWorkerOptions = {
  network: string;
  chainId: number;
  fetchMedia: MediaFetcher;
  /** Whether the store has content under a key. */
  hasMedia: MediaStore["has"];
  /** How many fetches run at once. */
  concurrency: number;
  signal: AbortSignal;
  /** Returns when nothing is due, for tests. */
  isOneShot?: boolean;
};

/** Fetches the media of documents and writes its keys and types into them, until the signal. */
export async function runMediaWorker(sql: Sql, options: MediaWorkerOptions): Promise<void> {
  const { chainId, concurrency, signal, isOneShot = false } = options;
  const underWay = new Set<Promise<void>>();
  const claims = new Set<DueMedia>();
  const findLink = createLinkFinder(sql, options);
  const large = new PQueue({ concurrency: 1 });
  const maxUnderWay = concurrency * UNDER_WAY_FACTOR;
  while (!signal.aborted) {
    if (underWay.size >= maxUnderWay) {
      await Promise.race(underWay);
      continue;
    }
    const claimed = await claimDueMedia(sql, {
      chainId,
      limit: Math.min(BATCH_SIZE, maxUnderWay - underWay.size),
    });
    for (const due of claimed) {
      claims.add(due);
      const task: Promise<void> = completeMedia(sql, due, { ...options, findLink, large })
        .catch((error: unknown) => {
          // At the end, claims that are being worked on were given back.
          if (!signal.aborted) tellFault("can't store media", error);
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

type Context = MediaWorkerOptions & { findLink: LinkFinder; large: PQueue };

async function completeMedia(sql: Sql, due: DueMedia, context: Context): Promise<void> {
  const { chainId, large } = context;
  const { contract_address: contract } = due;
  const found = new Map<string, LinkOutcome>();
  const links =
    due.normalized === null
      ? await large.add(() => takeLarge(sql, due, { found, context }))
      : (JSON.parse(due.normalized) as MediaLinks);
  if (!links) return;
  await Promise.all(
    linksOf(links).map(async (link) => {
      if (found.has(link)) return;
      found.set(link, await context.findLink({ link, role: roleOf(link, links), contract }));
    }),
  );
  const spare = spareOf(links);
  const image = found.get(links.image)?.fact;
  if (spare !== "" && !found.has(spare) && (!image || isMoved(image, links)))
    found.set(spare, await findSpare(context, { link: spare, contract }));
  const faults = [...found.values()].flatMap(({ fault }) => fault ?? []);
  const postponed = faults.find((fault) => fault.kind === "postponed");
  const failure = faults.find((fault) => fault.kind === "failure");
  const before = due.normalized ?? (await readNormalized(sql, { chainId, due }));
  if (before === undefined) return;
  const factOf = (link: string) => found.get(link)?.fact;
  const stored = JSON.parse(before) as Normalized;
  const isToRead = due.normalized !== null && isPictureNow(stored, factOf(links.animation_url));
  const received = isToRead ? await findWhole(sql, due, context) : undefined;
  const whole = received?.image === links.animation_url ? received : links;
  const normalized = JSON.stringify(applyMedia(stored, { whole, factOf }));
  if (postponed && !failure && normalized === before)
    return releaseMedia(sql, { chainId, due, seconds: postponed.seconds });
  const fault =
    failure ?? (postponed && { kind: "failure" as const, code: "postponed", host: postponed.host, message: "" });
  const againSeconds = againSecondsOf(due, [...found.values()]);
  await storeTokenMedia(sql, { chainId, due, normalized, failure: fault, againSeconds });
}

/** When content is to be fetched again that is fresh, and was fetched before the document came. Null: there is none. */
function againSecondsOf({ changed_at }: DueMedia, outcomes: LinkOutcome[]): number | null {
  const pauses = outcomes.flatMap(({ fresh }) =>
    fresh && changed_at !== null && fresh.fetchedAt < changed_at ? [fresh.freshSeconds] : [],
  );
  return pauses.length === 0 ? null : Math.max(...pauses);
}

/**
 * Stores media that is part of the links of a document whose links may be stored cut. In what is returned its hash
 * takes the link's place, so that megabytes are in memory for only one token at a time, however long its other link
 * waits.
 */
async function takeLarge(
  sql: Sql,
  due: DueMedia,
  { found, context }: { found: Map<string, LinkOutcome>; context: Context },
): Promise<MediaLinks | undefined> {
  const { contract_address: contract } = due;
  const whole = await findWhole(sql, due, context);
  if (!whole) return undefined;
  const shorten = (link: string) => (link.length > MAX_URL_LENGTH ? hashLink(link, context) : link);
  const spare = spareOf(whole);
  if (spare.length > MAX_URL_LENGTH) found.set(shorten(spare), await findSpare(context, { link: spare, contract }));
  for (const link of linksOf(whole)) {
    if (link.length > MAX_URL_LENGTH)
      found.set(shorten(link), await context.findLink({ link, role: roleOf(link, whole), contract }));
  }
  const { image, image_data, animation_url } = whole;
  return { image: shorten(image), image_data: shorten(image_data), animation_url: shorten(animation_url) };
}

/** Finds a drawing that isn't needed: where it can't be had, that is no fault. */
async function findSpare({ findLink }: Context, wanted: { link: string; contract: Hex }): Promise<LinkOutcome> {
  const { fact, fresh } = await findLink({ ...wanted, role: "image" });
  return { ...(fact && { fact }), ...(fresh && { fresh }) };
}

/**
 * The links of a document uncut and where they were: from the text as received, or from the URI that is itself the picture
 * or film. Undefined where the token is gone.
 */
async function findWhole(
  sql: Sql,
  due: DueMedia,
  { network, chainId }: MediaWorkerOptions,
): Promise<MediaLinks | undefined> {
  const received = await readReceived(sql, { network, chainId, due });
  if (!received) return undefined;
  const stored = JSON.parse(received.normalized) as Normalized;
  const { raw, token_uri, fetched_from, standard } = received;
  const source = parseUri(token_uri);
  if (raw === "") {
    const image = source.kind === "data" ? source.uri : stored.image || stored.animation_url;
    return { ...stored, image, animation_url: "" };
  }
  const base = source.kind === "http" ? (fetched_from ?? token_uri) : formatSource(source);
  const document = await toDocument(
    { texts: [raw], bytes: Buffer.from(raw), contentType: undefined, base, isAuthentic: true },
    { hexTokenId: hexTokenIdOf({ ...due, standard }) },
  );
  return document.kind === "document" ? document.whole : stored;
}
