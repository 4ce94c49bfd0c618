import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Body } from "../document/body.ts";
import type { Failure } from "../fetch/failure.ts";
import type { TokenOutcome } from "./token-row.ts";

/** Batches at a time: Postgres writes one while the next is read. */
export const STORE_CONCURRENCY = 3;

/** A claimed token with what was found where its URI points, not read yet. */
export type FoundToken = Omit<TokenOutcome, "result"> & {
  found: Body | Failure;
  /** What {id} stands for in its document. */
  hexTokenId?: string | undefined;
};

/** How many tokens have a document now, and how many have none or keep the one of before. */
export type Stored = { documents: number; failures: number };

export type StoreThreadOptions = {
  databaseUrl: string;
  /** Settings of its connections. */
  connection: Record<string, string>;
};

export type ToStoreThread = { id: number; chainId: number; tokens: FoundToken[] } | "close";
export type FromStoreThread = { id: number; stored: Stored } | { id: number; error: string };

export type StoreThread = {
  /** Reads and stores tokens together. @throws Error where they could not be, or the thread ended: they are due again */
  store: (batch: { chainId: number; tokens: FoundToken[] }) => Promise<Stored>;
  close: () => Promise<void>;
};

/**
 * A thread that makes documents of what was fetched and writes them. Beside the fetches, because reading a document of
 * 5 MB takes as long as many answers wait for, and because it is more than half of a token's work.
 */
export function startStoreThread(options: StoreThreadOptions): StoreThread {
  const waiting = new Map<number, PromiseWithResolvers<Stored>>();
  let thread: Worker | undefined;
  let lastId = 0;

  function start(): Worker {
    const started = new Worker(new URL("store-thread-main.ts", import.meta.url), { workerData: options });
    const end = (error: Error) => {
      if (thread === started) thread = undefined;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    };
    started.on("message", (message: FromStoreThread) => {
      const answer = waiting.get(message.id);
      waiting.delete(message.id);
      if ("stored" in message) answer?.resolve(message.stored);
      else answer?.reject(new Error(message.error));
    });
    started.once("error", end);
    started.once("exit", () => end(new Error("The thread that stores documents ended.")));
    return started;
  }

  const send = (message: ToStoreThread) => (thread ??= start()).postMessage(message, []);

  return {
    store: ({ chainId, tokens }) => {
      const answer = Promise.withResolvers<Stored>();
      const id = ++lastId;
      waiting.set(id, answer);
      send({ id, chainId, tokens: tokens.map((token) => ({ ...token, found: withOwnBytes(token.found) })) });
      return answer.promise;
    },
    close: async () => {
      if (!thread) return;
      const exited = once(thread, "exit");
      send("close");
      await exited;
    },
  };
}

/** All memory of a view is sent, and these are views of what was read from a socket. */
function withOwnBytes(found: FoundToken["found"]): FoundToken["found"] {
  return found.kind === "bytes" ? { ...found, bytes: new Uint8Array(found.bytes) } : found;
}
