import type { Sql } from "postgres";
import { type ContractMemory, rememberContracts } from "../contract/contract-memory.ts";
import { failure } from "../fetch/failure.ts";
import { findMedia } from "../media/known-media.ts";
import { countChanges } from "./metadata-count.ts";
import { refuseParkedPages } from "./parked-page.ts";
import { compareTokens, readCounted } from "./token-queue.ts";
import { type TokenOutcome, toTokenRow, updateTokens } from "./token-row.ts";

/**
 * Thrown where another attempt at a token was stored since it was claimed: it was asked for again, or its lease had
 * ended. If that attempt was an earlier one, only the counters must be read anew; if it was later, it is the one that
 * counts.
 */
class OvertakenError extends Error {}

/**
 * Stores outcomes together. If that fails, stores each alone, so that one that can't be stored doesn't hold up the
 * others.
 */
export async function storeTokens(sql: Sql, options: StoreOptions): Promise<void> {
  const { chainId, outcomes } = options;
  try {
    return await storeTogether(sql, options);
  } catch (error) {
    const [only, ...others] = outcomes;
    if (!only) throw error;
    if (others.length === 0 && error instanceof OvertakenError) {
      const counted = await readCounted(sql, { chainId, token: only.token });
      // A later attempt is stored: nothing of this one counts, neither its media nor its failure.
      if (!counted) return;
      return storeTokens(sql, { chainId, outcomes: [{ ...only, token: { ...only.token, ...counted } }] });
    }
    if (others.length === 0 && (only.result.kind === "failure" || !isOfDocument(error))) throw error;
    if (others.length === 0) {
      const result = failure("not_storable", error instanceof Error ? error.message : String(error));
      return storeTogether(sql, { chainId, outcomes: [{ ...only, uri: undefined, result }] });
    }
    const faults: unknown[] = [];
    for (const outcome of outcomes)
      await storeTokens(sql, { chainId, outcomes: [outcome] }).catch((fault: unknown) => faults.push(fault));
    if (faults.length > 0) throw faults[0];
  }
}

/**
 * Whether the document is the reason that it can't be stored: an SQLSTATE for bad data, a broken constraint or a limit,
 * or an error that isn't from Postgres or its connection. Where the database is gone, the token is due again when its
 * lease ends.
 */
function isOfDocument(error: unknown): boolean {
  const { code = "" } = error as { code?: string };
  return /^(?:22|23|54)[0-9A-Z]{3}$|^ERR_|^$/.test(code);
}

type StoreOptions = { chainId: number; outcomes: TokenOutcome[] };

/** Stores outcomes in one transaction. A failure doesn't change an earlier document. */
async function storeTogether(sql: Sql, { chainId, outcomes: unsorted }: StoreOptions): Promise<void> {
  const sorted = unsorted.toSorted((a, b) => compareTokens(a.token, b.token));
  const outcomes = await refuseParkedPages(sql, { chainId, outcomes: sorted });
  const hashes = outcomes.flatMap(({ result }) => (result.kind === "document" ? [...result.hashes.values()] : []));
  const media = await findMedia(sql, [...new Set(hashes)]);
  const rows = outcomes.map((outcome) => toTokenRow(outcome, media));
  await sql.begin(async (tx) => {
    if ((await updateTokens(tx, { chainId, rows })) < rows.length) throw new OvertakenError();
    await countChanges(tx, { chainId, changes: rows.map(({ change }) => change) });
    await rememberContracts(tx, { chainId, memories: outcomes.flatMap(memoryOf) });
  });
}

/** What led to a document and isn't remembered yet. `baseURI` is remembered only where nothing else has ever worked. */
function memoryOf({ token, uriFunction, idForm, result }: TokenOutcome): ContractMemory[] {
  if (result.kind !== "document") return [];
  const isNewFunction =
    uriFunction != null &&
    uriFunction !== token.uri_function &&
    (uriFunction !== "baseURI" || token.uri_function === null);
  const isNewForm = idForm !== undefined && idForm !== token.id_form;
  if (!isNewFunction && !isNewForm) return [];
  return [
    {
      contract_address: token.contract_address,
      uri_function: isNewFunction ? uriFunction : null,
      id_form: isNewForm ? idForm : null,
    },
  ];
}
