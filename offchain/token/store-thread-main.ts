/** The thread of `startStoreThread`: one batch after another, the next one's documents while Postgres writes. */
import { parentPort, workerData } from "node:worker_threads";
import { createPool } from "../../pool.ts";
import { readBody } from "../document/body.ts";
import { toStoredDocument } from "../document/stored-document.ts";
import { failure } from "../fetch/failure.ts";
import {
  type FoundToken,
  type FromStoreThread,
  STORE_CONCURRENCY,
  type StoreThreadOptions,
  type ToStoreThread,
} from "./store-thread.ts";
import type { TokenOutcome } from "./token-row.ts";
import { storeTokens } from "./token-store.ts";

const port = parentPort!;
const { databaseUrl, connection } = workerData as StoreThreadOptions;
const sql = createPool(databaseUrl, { max: STORE_CONCURRENCY, connection });
const send = (message: FromStoreThread) => port.postMessage(message, []);

port.on("message", (message: ToStoreThread) => {
  if (message === "close") void sql.end({ timeout: 2 }).finally(() => port.close());
  else void store(message);
});

async function store({ id, chainId, tokens }: Exclude<ToStoreThread, "close">): Promise<void> {
  try {
    const outcomes: TokenOutcome[] = [];
    // One at a time: the tree of a large document is many times its text.
    for (const token of tokens) outcomes.push(await read(token));
    await storeTokens(sql, { chainId, outcomes });
    const failures = outcomes.filter(({ result }) => result.kind === "failure").length;
    send({ id, stored: { documents: outcomes.length - failures, failures } });
  } catch (error) {
    send({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

async function read({ found, hexTokenId, ...token }: FoundToken): Promise<TokenOutcome> {
  if (found.kind === "failure") return { ...token, result: found };
  try {
    const document = await readBody(found, { uri: token.uri ?? "", hexTokenId });
    return { ...token, result: document.kind === "failure" ? document : toStoredDocument(document) };
  } catch (error) {
    // A fault of ours stands in the way of one token, not of all that came with it.
    return { ...token, result: failure("unreadable", error instanceof Error ? error.message : String(error)) };
  }
}
