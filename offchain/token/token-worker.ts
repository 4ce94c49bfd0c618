import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import PQueue from "p-queue";
import type { Sql } from "postgres";
import type { ReadCalls } from "../chain/call.ts";
import { CLAIM_SECONDS } from "../claim.ts";
import type { Failure, Postponed } from "../fetch/failure.ts";
import type { DocumentReader } from "../document/source-reader.ts";
import { type ClaimedToken, claimTokens, releaseClaims, renewClaims } from "./token-queue.ts";
import { createTokenWriter, type TokenWriter } from "./token-writer.ts";
import type { TokenOutcome } from "./token-row.ts";
import { type ReadOptions, readToken, type TokenReading } from "./token-reading.ts";
import { readTokenUris, type TokenUri } from "./token-uri.ts";
import { MAX_URL_LENGTH } from "../uri/uri.ts";
import { tellFault } from "../fault.ts";

/**
 * How many tokens are claimed at once. Postgres plans each claim anew, which made tokens a quarter more expensive with
 * 100.
 */
const CLAIM_SIZE = 200;
/** How many tokens are read at once: one multicall, and no more URIs in memory than art on chain allows. */
const BATCH_SIZE = 100;
/** How many tokens are in flight at most, as a multiple of the concurrency. Most of them wait for slow hosts. */
const IN_FLIGHT_FACTOR = 8;
/** How much text of URIs is in flight at most. URIs that contain documents keep no host busy, but take memory. */
const MAX_URI_LENGTH_UNDER_WAY = 32 * 1024 * 1024;
const IDLE_MS = 500;
/** How long to wait for room. Some 40 tokens are done in that time if all goes well. */
const FULL_MS = 5;
/** Claims are renewed well before their leases end. */
const RENEW_MS = (CLAIM_SECONDS.token * 1000) / 3;
/** How long pending reads may take when the process is asked to end. */
const GRACE_MS = 2000;
/** The part of a claim that goes to retries, while there are new tokens, too. */
const DUE_SHARE = 0.25;

type TokenWorkerOptions = {
  network: string;
  chainId: number;
  readCalls: ReadCalls;
  readDocument: DocumentReader;
  /** How many fetches run at once. */
  concurrency: number;
  signal: AbortSignal;
  /** Whether many fetches wait for a slot already. Claiming more tokens would only take memory. */
  isBusy?: () => boolean;
  /** How many fetches wait for others of their own contract. They leave room for tokens of others. */
  countHeldUp?: () => number;
  /** Called with stored outcomes, for the worker's statistics. */
  onStored?: (outcomes: TokenOutcome[]) => void;
  /** Returns when the queue is empty, for tests and benchmarks. */
  isOneShot?: boolean;
};

/** Claims tokens, reads their documents and stores them, until the signal. */
export async function runTokenWorker(sql: Sql, options: TokenWorkerOptions): Promise<void> {
  const { network, chainId, concurrency, signal, isOneShot = false } = options;
  const { isBusy = () => false, countHeldUp = () => 0 } = options;
  const inFlight = new Set<ClaimedToken>();
  const maxInFlight = Math.max(concurrency * IN_FLIGHT_FACTOR, BATCH_SIZE * 2);
  const store = createTokenWriter(sql, { ...options, inFlight });
  const batches = new Set<Promise<void>>();
  const renewal = setInterval(
    () => void renewClaims(sql, { chainId, tokens: [...inFlight] }).catch(() => {}),
    RENEW_MS,
  );
  const uris: UrisUnderWay = { length: 0, reading: 0, lastLength: MAX_URI_LENGTH_UNDER_WAY };
  const large = new PQueue({ concurrency: 1 });
  let hasNew = true;

  const isFull = ({ claimed }: { claimed: number }) => {
    // Without those that only wait to be written, for which the writer has its own limit.
    const unread = inFlight.size - claimed - store.size() - countHeldUp();
    if (unread > (isBusy() ? 0 : maxInFlight - BATCH_SIZE) || store.isFull()) return true;
    // URIs that are still being read are taken to be as large as the last batch's, the first ones as large as the
    // limit.
    return uris.length + uris.reading * uris.lastLength >= MAX_URI_LENGTH_UNDER_WAY;
  };

  function startBatch(tokens: ClaimedToken[]): void {
    const batch: Promise<void> = runBatch(tokens, { ...options, store, uris, large })
      .catch((error: unknown) => {
        // A fault of ours: the tokens become due again when their leases end.
        for (const token of tokens) inFlight.delete(token);
        tellFault("can't read tokens", error);
      })
      .finally(() => void batches.delete(batch));
    batches.add(batch);
  }

  try {
    while (!signal.aborted) {
      const due = hasNew ? Math.ceil(CLAIM_SIZE * DUE_SHARE) : CLAIM_SIZE;
      const tokens = await claimTokens(sql, { network, chainId, ready: CLAIM_SIZE, due });
      hasNew = tokens.length >= CLAIM_SIZE;
      if (tokens.length === 0) {
        if (isOneShot && inFlight.size === 0) break;
        await sleep(isOneShot ? 10 : IDLE_MS, undefined, { signal }).catch(() => {});
        continue;
      }
      for (const token of tokens) inFlight.add(token);
      for (let start = 0; start < tokens.length && !signal.aborted; start += BATCH_SIZE) {
        // They are claimed before there is room, so that nobody has to wait for a claim then.
        while (isFull({ claimed: tokens.length - start }) && !signal.aborted) await sleep(FULL_MS);
        if (!signal.aborted) startBatch(tokens.slice(start, start + BATCH_SIZE));
      }
    }
    await Promise.race([Promise.allSettled(batches), sleep(GRACE_MS)]);
    await store.flush();
  } finally {
    store.close();
    clearInterval(renewal);
    await releaseClaims(sql, { chainId, tokens: [...inFlight].map((token) => ({ ...token, seconds: 0 })) }).catch(
      () => {},
    );
  }
}

type UrisUnderWay = {
  /** Of all URIs in flight. */
  length: number;
  /** How many batches are reading their URIs. */
  reading: number;
  /** Of the URIs of the last batch. */
  lastLength: number;
};

type BatchOptions = TokenWorkerOptions & { store: TokenWriter; uris: UrisUnderWay; large: PQueue };

async function runBatch(
  tokens: ClaimedToken[],
  { chainId, readCalls, readDocument, store, uris, large }: BatchOptions,
): Promise<void> {
  uris.reading++;
  const found: (TokenUri | Failure | Postponed | undefined)[] = await readTokenUris(readCalls, {
    chainId,
    tokens,
  }).finally(() => void uris.reading--);
  uris.lastLength = found.reduce((sum, uri) => sum + lengthOf(uri), 0);
  uris.length += uris.lastLength;
  await Promise.all(
    tokens.map(async (token, i) => {
      const options = { uri: found[i]!, chainId, readDocument, room: store.room };
      const length = lengthOf(options.uri);
      // Releases the URI of each token when it is done, even if others of its batch still wait.
      found[i] = undefined;
      try {
        const read = await (length > MAX_URL_LENGTH
          ? large.add(() => readLarge(token, options))
          : readToken(token, options));
        if (read.kind === "postponed") store.postpone(token, read);
        else store.add(read.outcome);
      } finally {
        uris.length -= length;
      }
    }),
  );
}

function lengthOf(uri: TokenUri | Failure | Postponed | undefined): number {
  return uri?.kind === "uri" ? uri.uri.length : 0;
}

/** Large URIs are read one by one, and everything else gets a turn in between. */
async function readLarge(token: ClaimedToken, options: ReadOptions): Promise<TokenReading> {
  await setImmediate();
  await options.room();
  return readToken(token, options);
}
