import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { numberToHex } from "viem";
import type { ReadCalls } from "../chain/call.ts";
import type { Failure, Postponed } from "../fetch/failure.ts";
import type { BodyFinder } from "../document/body-finder.ts";
import { type ClaimedToken, CLAIM_SECONDS, claimTokens, releaseClaims, renewClaims } from "./token-queue.ts";
import { createTokenWriter, type TokenWriter } from "./token-writer.ts";
import type { FoundToken, Stored, StoreThread } from "./store-thread.ts";
import { fillInId, readTokenUris, type TokenUri } from "./token-uri.ts";
import { parseUri } from "../uri/uri.ts";

/** Tokens claimed and read at a time: two multicalls, and no more URIs in memory than art on chain allows. */
const BATCH_SIZE = 100;
/** Tokens under way at most, most of them waiting for hosts that are slow, in units of fetches at a time. */
const IN_FLIGHT_FACTOR = 8;
const MAX_UNWRITTEN = 2000;
const IDLE_MS = 500;
/** Until there may be room again: some 40 tokens where all goes well. */
const FULL_MS = 5;
/** Claims are renewed well before they end. */
const RENEW_MS = (CLAIM_SECONDS * 1000) / 3;
/** How long what is under way may take when the process is asked to end. */
const GRACE_MS = 2000;
/** Of a claim, the part that goes to retries while there are new tokens too. */
const DUE_SHARE = 0.25;

const ID_FORMS = ["hex64", "decimal", "hex"] as const;
type IdForm = (typeof ID_FORMS)[number];

export type TokenWorkerOptions = {
  network: string;
  chainId: number;
  readCalls: ReadCalls;
  findBody: BodyFinder;
  storeThread: StoreThread;
  /** Tokens under way at a time. */
  concurrency: number;
  signal: AbortSignal;
  /** Whether many fetches wait for a place already: tokens claimed now would only take memory. */
  isBusy?: () => boolean;
  /** Called with what came of tokens, for the worker's figures. */
  onStored?: (stored: Stored) => void;
  /** Returns when the queue is empty, for tests and benchmarks. */
  isOneShot?: boolean;
};

/** Takes tokens from the queue, reads their documents and stores them, until the signal. */
export async function runTokenWorker(sql: Sql, options: TokenWorkerOptions): Promise<void> {
  const { network, chainId, concurrency, signal, isBusy = () => false, isOneShot = false } = options;
  const inFlight = new Set<ClaimedToken>();
  const maxInFlight = Math.max(concurrency * IN_FLIGHT_FACTOR, BATCH_SIZE * 2);
  const store = createTokenWriter(sql, { ...options, inFlight });
  const batches = new Set<Promise<void>>();
  const renewal = setInterval(
    () => void renewClaims(sql, { chainId, tokens: [...inFlight] }).catch(() => {}),
    RENEW_MS,
  );
  let hasNew = true;

  const isFull = ({ claimed }: { claimed: number }) => {
    // What waits to be written keeps no host busy, but memory.
    const unread = inFlight.size - claimed - store.size();
    return unread > (isBusy() ? 0 : maxInFlight - BATCH_SIZE) || store.size() > MAX_UNWRITTEN;
  };

  try {
    while (!signal.aborted) {
      const due = hasNew ? Math.ceil(BATCH_SIZE * DUE_SHARE) : BATCH_SIZE;
      const tokens = await claimTokens(sql, { network, chainId, ready: BATCH_SIZE, due });
      hasNew = tokens.length >= BATCH_SIZE;
      if (tokens.length === 0) {
        if (isOneShot && inFlight.size === 0) break;
        await sleep(isOneShot ? 10 : IDLE_MS, undefined, { signal }).catch(() => {});
        continue;
      }
      for (const token of tokens) inFlight.add(token);
      // Claimed before there is room, so that nobody waits for a claim.
      while (isFull({ claimed: tokens.length }) && !signal.aborted) await sleep(FULL_MS);
      if (signal.aborted) break;
      const batch: Promise<void> = runBatch(tokens, { ...options, store })
        .catch((error: unknown) => {
          // A fault of ours: the tokens are due again when their leases end.
          for (const token of tokens) inFlight.delete(token);
          console.error("worker: can't read tokens:", error instanceof Error ? error.message : error);
        })
        .finally(() => void batches.delete(batch));
      batches.add(batch);
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

async function runBatch(
  tokens: ClaimedToken[],
  { chainId, readCalls, findBody, store }: TokenWorkerOptions & { store: TokenWriter },
): Promise<void> {
  const uris = await readTokenUris(readCalls, { chainId, tokens });
  await Promise.all(
    tokens.map(async (token, i) => {
      const found = await findToken(token, { uri: uris[i]!, chainId, findBody });
      if (found.kind === "postponed") store.postpone(token, found);
      else store.add(found.token);
    }),
  );
}

async function findToken(
  token: ClaimedToken,
  { uri: read, chainId, findBody }: { uri: TokenUri | Failure; chainId: number; findBody: BodyFinder },
): Promise<{ kind: "found"; token: FoundToken } | Postponed> {
  if (read.kind === "failure") return { kind: "found", token: { token, uri: undefined, found: read } };
  const hexTokenId =
    token.standard === "ERC1155" ? numberToHex(BigInt(token.token_id), { size: 32 }).slice(2) : undefined;
  const { uriFunction } = read;
  const isTemplate = /\{id\}|%7Bid%7D/i.test(read.uri);
  let first: { uri: string; found: Failure } | undefined;
  for (const form of isTemplate ? formsFor(token) : [undefined]) {
    const uri = form === undefined ? read.uri : fillInId(read.uri, { tokenId: token.token_id, form });
    const found = await findBody(parseUri(uri), { chainId });
    if (found.kind === "postponed") return found;
    if (found.kind !== "failure")
      return { kind: "found", token: { token, uri, found, hexTokenId, uriFunction, idForm: form } };
    first ??= { uri, found };
    // Only "there is no such thing" says that the id may be written in another way.
    if (!/^http_4(?!29)\d\d$/.test(found.code)) break;
  }
  return { kind: "found", token: { token, ...first!, uriFunction } };
}

function formsFor({ id_form }: ClaimedToken): IdForm[] {
  const known = ID_FORMS.find((form) => form === id_form);
  return known ? [known, ...ID_FORMS.filter((form) => form !== known)] : [...ID_FORMS];
}
