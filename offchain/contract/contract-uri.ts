import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { encodeFunctionData, type Hex } from "viem";
import { contractAbi } from "../../abis/contract.ts";
import { readText } from "../chain/answer.ts";
import { type CallAnswer, faultOf, type ReadCalls } from "../chain/call.ts";
import { type Failure, failure, type Postponed } from "../fetch/failure.ts";
import { documentPauseSeconds, SECOND_LOOK_SECONDS } from "../retry.ts";
import { MAX_URI_BYTES } from "../document/document.ts";
import type { DocumentReader } from "../document/source-reader.ts";
import { cleanText, cutText, toLabel } from "../text.ts";
import { toBytea } from "../bytea.ts";
import { CLAIM_SECONDS } from "../claim.ts";
import { parseUri } from "../uri/uri.ts";
import { tellFault } from "../fault.ts";

const BATCH_SIZE = 20;
/** How many documents are being fetched at most. Most of them wait for slow hosts. */
const MAX_UNDER_WAY = 100;
const IDLE_MS = 500;
/** How long pending reads may take when the process is asked to end. */
const GRACE_MS = 2000;
/** Images are shown in lists. A longer one, a drawing in the link itself, is only in the document. */
const MAX_IMAGE_LENGTH = 64 * 1024;
const MAX_DESCRIPTION_LENGTH = 10_000;
const MAX_NAME_LENGTH = 200;

/** `uri_due_at`: the end of the lease, to the microsecond. It identifies a claim. */
type DueContractUri = { contract_address: Hex; uri_attempts: number; uri_due_at: string };
type ReaderOptions = { chainId: number; readCalls: ReadCalls; readDocument: DocumentReader; signal: AbortSignal };
type ContractDocument = { uri: string; name: string; description: string; image: string };

/**
 * Reads the documents of due contracts, as collections, until none is due. Most contracts have no such function; but
 * one may get it after its first mint, and a node that lags may not have the contract yet. Returns how many were read.
 *
 * Source: ERC-7572
 */
export async function readDueContractUris(sql: Sql, options: ReaderOptions): Promise<number> {
  const { chainId, readCalls, signal } = options;
  // Not in batches: each batch would wait for its slowest document.
  const underWay = new Set<Promise<void>>();
  let total = 0;
  while (!signal.aborted) {
    const due = underWay.size > MAX_UNDER_WAY - BATCH_SIZE ? [] : await claim(sql, { chainId });
    if (due.length === 0 && underWay.size === 0) return total;
    if (due.length === 0) {
      await Promise.race([...underWay, sleep(IDLE_MS, undefined, { signal }).catch(() => {})]);
      continue;
    }
    const data = encodeFunctionData({ abi: contractAbi, functionName: "contractURI" });
    const answers = await readCalls(due.map(({ contract_address: to }) => ({ to, data })));
    for (const [i, contract] of due.entries()) {
      const task: Promise<void> = read(answers[i]!, { ...options, contract: contract.contract_address })
        .then((result) => store(sql, { chainId, contract, result }))
        .catch((error: unknown) => {
          // The contract is due again when its lease ends.
          if (!signal.aborted) tellFault("can't store a contract", error);
        })
        .finally(() => void underWay.delete(task));
      underWay.add(task);
    }
    total += due.length;
  }
  await Promise.race([Promise.allSettled(underWay), sleep(GRACE_MS)]);
  return total;
}

async function claim(sql: Sql, { chainId }: { chainId: number }): Promise<DueContractUri[]> {
  return sql<DueContractUri[]>`
    with due as materialized (
      select contract_address
      from offchain.contract_metadata
      where
        chain_id = ${chainId}
        and uri_due_at <= now()
      order by uri_due_at
      limit ${BATCH_SIZE}
      for update skip locked
    )
    update offchain.contract_metadata m
    set
      uri_due_at = now() + ${CLAIM_SECONDS.contractUri} * interval '1 second',
      uri_attempts = m.uri_attempts + 1
    from due
    where
      m.chain_id = ${chainId}
      and m.contract_address = due.contract_address
    returning
      '0x' || encode(m.contract_address, 'hex') as contract_address,
      m.uri_attempts,
      m.uri_due_at::text
  `;
}

async function read(
  answer: CallAnswer,
  { chainId, readDocument, contract }: ReaderOptions & { contract: Hex },
): Promise<ContractDocument | Failure | Postponed> {
  if (answer.kind === "fault") return faultOf(answer);
  if (answer.kind === "none") return failure("revert", "The contract has no contractURI.");
  const uri = readText(answer.data, { maxBytes: MAX_URI_BYTES }) ?? "";
  if (uri.trim() === "") return failure("no_uri", "contractURI returns an empty text.");
  const result = await readDocument(parseUri(uri), { chainId, contract });
  if (result.kind !== "document") return result;
  const { name, description, image, image_data } = result.whole;
  // A page, for example: once a project's domain is another one's, it answers every URL with one.
  if ([name, description, image, image_data].every((text) => text === ""))
    return failure("empty_document", "It has no name, description or image.");
  return {
    uri: cutText(cleanText(uri), MAX_IMAGE_LENGTH),
    name: toLabel(name, MAX_NAME_LENGTH),
    description: cutText(description, MAX_DESCRIPTION_LENGTH),
    // Links aren't cut, because a cut link leads nowhere.
    image: [image, image_data].find((link) => link !== "" && link.length <= MAX_IMAGE_LENGTH) ?? "",
  };
}

async function store(
  sql: Sql,
  {
    chainId,
    contract,
    result,
  }: { chainId: number; contract: DueContractUri; result: Awaited<ReturnType<typeof read>> },
): Promise<void> {
  const document = "kind" in result ? undefined : result;
  const fault = "kind" in result && result.kind === "failure" ? result : undefined;
  const postponed = "kind" in result && result.kind === "postponed" ? result : undefined;
  // Null: not before the contract logs a change.
  const pause =
    postponed?.seconds ??
    (fault ? documentPauseSeconds({ attempts: contract.uri_attempts, failure: fault, isPreliminary: false }) : null);
  const lease = sql`${contract.uri_due_at}::text::timestamptz`;
  // The URI is or may be the one of before, or that of a change just before: the node may not show this one yet.
  const isUpdateUnseen = sql`
    is_uri_update_unseen
    and ${document !== undefined}
    and (
      uri_updated_at is null
      or contract_uri = ${document?.uri ?? null}
      or uri_updated_at > now() - ${SECOND_LOOK_SECONDS} * interval '1 second'
    )
  `;
  const secondLookAt = sql`now() + ${SECOND_LOOK_SECONDS} * interval '1 second'`;
  const claimedAt = sql`${lease} - ${CLAIM_SECONDS.contractUri} * interval '1 second'`;
  await sql`
    update offchain.contract_metadata
    set
      -- The contract's own name() comes first and is never replaced.
      name = case when name = '' or is_name_of_uri then coalesce(nullif(${document?.name ?? null}, ''), name) else name end,
      is_name_of_uri = is_name_of_uri or (name = '' and ${(document?.name ?? "") !== ""}),
      description = coalesce(${document?.description ?? null}, description),
      image = case when ${document !== undefined} then nullif(${document?.image ?? null}::text, '') else image end,
      contract_uri = coalesce(${document?.uri ?? null}, contract_uri),
      uri_error_code = case when ${postponed !== undefined} then uri_error_code else ${fault?.code ?? null} end,
      -- Another due time than this claim's lease: the contract has logged a change meanwhile.
      uri_due_at = case
        when uri_due_at is distinct from ${lease} then uri_due_at
        when ${isUpdateUnseen} then ${secondLookAt}
        else now() + ${pause}::float8 * interval '1 second'
      end,
      is_uri_update_unseen = is_uri_update_unseen
        and (uri_due_at is distinct from ${lease} or ${postponed !== undefined}),
      uri_attempts = case
        when ${pause === null} then 0
        -- Postponed: it was no attempt.
        when ${postponed !== undefined} then greatest(uri_attempts - 1, 0)
        else uri_attempts
      end,
      -- By when it was claimed: one that was claimed later, and ends later, has read something newer.
      uri_updated_at = case when ${document !== undefined} then ${claimedAt} else uri_updated_at end
    where
      chain_id = ${chainId}
      and contract_address = ${toBytea(contract.contract_address)}::text::bytea
      -- A time in the future is from before the clock was set back.
      and (uri_updated_at is null or uri_updated_at not between ${claimedAt} and now())
  `;
}
