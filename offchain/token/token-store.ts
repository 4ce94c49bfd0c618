import type { Sql } from "postgres";
import { type ContractMemory, rememberContracts } from "../contract/contract-memory.ts";
import { failure } from "../fetch/failure.ts";
import { findMedia } from "../media/media-queue.ts";
import { countChanges } from "./metadata-count.ts";
import { compareTokens, readCounted } from "./token-queue.ts";
import { type TokenOutcome, toTokenRow, updateTokens } from "./token-row.ts";

/**
 * Another attempt at a token was stored since it was claimed: it was asked for again meanwhile, or its lease was over.
 * An earlier one changed what the counters hold for it; a later one is what counts.
 */
class OvertakenError extends Error {}

/** Stores outcomes together; where that fails, each alone, so that one that can't be stored stands in nobody's way. */
export async function storeTokens(sql: Sql, options: StoreOptions): Promise<void> {
  const { chainId, outcomes } = options;
  try {
    return await storeTogether(sql, options);
  } catch (error) {
    const [only, ...others] = outcomes;
    if (!only) throw error;
    if (others.length === 0 && error instanceof OvertakenError) {
      const counted = await readCounted(sql, { chainId, token: only.token });
      // Nothing of an older attempt goes over a newer one: its media and its failure are of before, too.
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
 * Whether it is the document that can't be stored: bad data, a broken constraint or a limit by its SQLSTATE, or nothing
 * that Postgres or a connection said. Where the database is gone the token is due again when its lease ends.
 */
function isOfDocument(error: unknown): boolean {
  const { code = "" } = error as { code?: string };
  return /^(?:22|23|54)[0-9A-Z]{3}$|^ERR_|^$/.test(code);
}

type StoreOptions = { chainId: number; outcomes: TokenOutcome[] };

/** In one statement. A failure never touches what was good before. */
async function storeTogether(sql: Sql, { chainId, outcomes: unsorted }: StoreOptions): Promise<void> {
  const outcomes = unsorted.toSorted((a, b) => compareTokens(a.token, b.token));
  const hashes = outcomes.flatMap(({ result }) => (result.kind === "document" ? [...result.hashes.values()] : []));
  const media = await findMedia(sql, [...new Set(hashes)]);
  const rows = outcomes.map((outcome) => toTokenRow(outcome, media));
  await sql.begin(async (tx) => {
    if ((await updateTokens(tx, { chainId, rows })) < rows.length) throw new OvertakenError();
    await countChanges(tx, { chainId, changes: rows.map(({ change }) => change) });
    await rememberContracts(tx, { chainId, memories: outcomes.flatMap(memoryOf) });
  });
}

/** What is new of what worked, which is what led to a document. `baseURI` only where nothing else ever did. */
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
