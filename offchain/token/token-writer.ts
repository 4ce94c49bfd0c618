import type { Sql } from "postgres";
import { CLAIM_SECONDS } from "../claim.ts";
import type { Postponed } from "../fetch/failure.ts";
import { type ClaimedToken, releaseClaims } from "./token-queue.ts";
import type { TokenOutcome } from "./token-row.ts";
import { storeTokens } from "./token-store.ts";
import { tellFault } from "../fault.ts";

/** Outcomes are stored together: after so many, so much text, or so long. */
const STORE_SIZE = 200;
/**
 * Documents are sent to Postgres joined, the received ones in one text and the normalized ones in another. For texts
 * from 128 kB on, V8 allocates new memory each time: that took half of the worker's CPU time for storing a token.
 */
const STORE_LENGTH = 200 * 1024;
const STORE_AFTER_MS = 50;
/** How many writes run at once: Postgres works on one while the next is prepared. */
const STORE_CONCURRENCY = 3;
/** Limits for what isn't written yet. Beyond them nothing is added until there is room. */
const MAX_UNWRITTEN = 2000;
const MAX_UNWRITTEN_LENGTH = 32 * 1024 * 1024;

type WriterOptions = {
  chainId: number;
  inFlight: Set<ClaimedToken>;
  /** Called with what was written. */
  onStored?: ((outcomes: TokenOutcome[]) => void) | undefined;
};

/** Collects outcomes of tokens, and stores them together. */
export type TokenWriter = {
  add: (outcome: TokenOutcome) => void;
  postpone: (token: ClaimedToken, until: Pick<Postponed, "seconds" | "host">) => void;
  flush: () => Promise<void>;
  /** How many outcomes aren't written yet. */
  size: () => number;
  /** Whether so much isn't written yet that nothing should be added. */
  isFull: () => boolean;
  /** Resolves when that isn't so any more. */
  room: () => Promise<void>;
  /** Ignores what is added from now on: those claims were given back. */
  close: () => void;
};

/** Creates a writer. Tokens leave `inFlight` when they are written or postponed. */
export function createTokenWriter(sql: Sql, { chainId, inFlight, onStored }: WriterOptions): TokenWriter {
  const outcomes: TokenOutcome[] = [];
  let postponed: (ClaimedToken & { seconds: number; host: string })[] = [];
  let timer: NodeJS.Timeout | undefined;
  const writing = new Set<Promise<void>>();
  let isClosed = false;
  let unwritten = 0;
  let unwrittenLength = 0;
  /** The length of outcomes that no write has taken yet. */
  let waitingLength = 0;

  const isFull = () => unwritten > MAX_UNWRITTEN || unwrittenLength > MAX_UNWRITTEN_LENGTH;
  const hasRest = () => outcomes.length + postponed.length > 0;
  const isDue = () => outcomes.length + postponed.length >= STORE_SIZE || waitingLength >= STORE_LENGTH;

  /** Takes all outcomes, or as many as are enough text for one write. */
  function takeOutcomes(): { done: TokenOutcome[]; length: number } {
    let length = 0;
    let count = 0;
    while (count < outcomes.length && length < STORE_LENGTH) length += lengthOf(outcomes[count++]!);
    waitingLength -= length;
    return { done: outcomes.splice(0, count), length };
  }

  async function write(): Promise<void> {
    const { done, length } = takeOutcomes();
    const later = postponed;
    postponed = [];
    try {
      if (done.length > 0) await storeTokens(sql, { chainId, outcomes: done });
      onStored?.(done);
    } catch (error) {
      // A full disk says nothing of whether a document can be had: it was no attempt.
      for (const { token } of done) later.push({ ...token, seconds: CLAIM_SECONDS.token, host: "" });
      throw error;
    } finally {
      for (const { token } of done) inFlight.delete(token);
      unwritten -= done.length;
      unwrittenLength -= length;
      await releaseClaims(sql, { chainId, tokens: later });
    }
  }

  function startWrite(): void {
    clearTimeout(timer);
    timer = undefined;
    // What can't be written becomes due again when its lease ends.
    const task: Promise<void> = write()
      .catch((error: unknown) => tellFault("can't store metadata", error))
      .finally(() => {
        writing.delete(task);
        if (hasRest() && !isClosed) schedule();
      });
    writing.add(task);
    if (outcomes.length > 0) schedule();
  }

  function schedule(): void {
    // When a write ends, it starts the next one.
    if (writing.size >= STORE_CONCURRENCY) return;
    if (isDue()) startWrite();
    else timer ??= setTimeout(startWrite, STORE_AFTER_MS);
  }

  async function flush(): Promise<void> {
    while (hasRest() || writing.size > 0) {
      if (hasRest() && writing.size < STORE_CONCURRENCY) startWrite();
      await Promise.race(writing);
    }
  }

  return {
    add: (outcome) => {
      if (isClosed) return;
      outcomes.push(outcome);
      unwritten++;
      const length = lengthOf(outcome);
      unwrittenLength += length;
      waitingLength += length;
      schedule();
    },
    postpone: (token, { seconds, host }) => {
      if (isClosed) return;
      postponed.push({ ...token, seconds, host });
      inFlight.delete(token);
      schedule();
    },
    flush,
    size: () => unwritten,
    isFull,
    room: async () => {
      while (isFull() && writing.size > 0) await Promise.race(writing);
    },
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** The length of the text in an outcome. */
function lengthOf({ uri = "", result }: TokenOutcome): number {
  if (result.kind === "failure") return uri.length;
  const { raw_json, normalized, links } = result;
  const { image, image_data, animation_url } = links;
  return uri.length + raw_json.length + normalized.length + image.length + image_data.length + animation_url.length;
}
