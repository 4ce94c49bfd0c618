import type { Sql } from "postgres";
import { encodeFunctionData, type Hex } from "viem";
import { contractAbi } from "../../abis/contract.ts";
import { readText } from "../chain/answer.ts";
import type { CallAnswer, ReadCalls } from "../chain/call.ts";
import { type Failure, failure } from "../fetch/failure.ts";
import { mediaPauseSeconds } from "../retry.ts";
import { type DocumentReader, MAX_DOCUMENT_BYTES } from "../document/source-reader.ts";
import { cleanText, cutText } from "../text.ts";
import { toBytea } from "../token/token-queue.ts";
import { parseUri } from "../uri/uri.ts";

const CLAIM_SECONDS = 300;
const BATCH_SIZE = 20;
/** An image in a list: a drawing larger than this is left to whoever reads the document. */
const MAX_IMAGE_LENGTH = 64 * 1024;
const MAX_DESCRIPTION_LENGTH = 10_000;
const MAX_NAME_LENGTH = 200;

/** `uri_due_at`: the end of the lease, to the microsecond, by which a claim knows itself again. */
type DueContractUri = { contract_address: Hex; uri_attempts: number; uri_due_at: string };
type ContractDocument = { uri: string; name: string; description: string; image: string };

/**
 * Reads what contracts say of themselves as collections, for those that are due. Most have no such function: that is an
 * answer, until the contract says otherwise. Returns how many were read.
 *
 * Source: ERC-7572
 */
export async function readDueContractUris(
  sql: Sql,
  { chainId, readCalls, readDocument }: { chainId: number; readCalls: ReadCalls; readDocument: DocumentReader },
): Promise<number> {
  const due = await claim(sql, { chainId });
  if (due.length === 0) return 0;
  const data = encodeFunctionData({ abi: contractAbi, functionName: "contractURI" });
  const answers = await readCalls(due.map(({ contract_address: to }) => ({ to, data })));
  await Promise.all(
    due.map(async (contract, i) => {
      const result = await read(answers[i]!, { chainId, readDocument });
      await store(sql, { chainId, contract, result });
    }),
  );
  return due.length;
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
      uri_due_at = now() + ${CLAIM_SECONDS} * interval '1 second',
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
  { chainId, readDocument }: { chainId: number; readDocument: DocumentReader },
): Promise<ContractDocument | Failure | { kind: "postponed"; seconds: number }> {
  if (answer.kind === "fault") return failure("rpc", answer.message);
  const uri = answer.kind === "data" ? (readText(answer.data, { maxBytes: MAX_DOCUMENT_BYTES * 1.4 }) ?? "") : "";
  if (uri.trim() === "") return failure("revert", "The contract has no contractURI.");
  const result = await readDocument(parseUri(uri), { chainId });
  if (result.kind !== "document") return result;
  const { name, description, image, image_data } = result.whole;
  return {
    uri: cutText(cleanText(uri), MAX_IMAGE_LENGTH),
    name: cutText(name, MAX_NAME_LENGTH),
    description: cutText(description, MAX_DESCRIPTION_LENGTH),
    // A link that is cut leads nowhere.
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
  const isFinal = document !== undefined || fault?.code === "revert";
  const pause =
    "seconds" in result
      ? result.seconds
      : fault
        ? mediaPauseSeconds({ attempts: contract.uri_attempts, failure: fault })
        : 0;
  const lease = sql`${contract.uri_due_at}::text::timestamptz`;
  await sql`
    update offchain.contract_metadata
    set
      -- What the contract says by name() is first, and nothing takes the place of a name.
      name = case when name = '' or is_name_of_uri then coalesce(nullif(${document?.name ?? null}, ''), name) else name end,
      is_name_of_uri = is_name_of_uri or (name = '' and ${(document?.name ?? "") !== ""}),
      description = coalesce(${document?.description ?? null}, description),
      image = case when ${document !== undefined} then nullif(${document?.image ?? null}::text, '') else image end,
      contract_uri = coalesce(${document?.uri ?? null}, contract_uri),
      uri_error_code = ${fault?.code ?? null},
      -- Due for another reason than this claim's lease: the contract has said meanwhile that it changed.
      uri_due_at = case
        when uri_due_at is distinct from ${lease} then uri_due_at
        when ${isFinal} then null
        else now() + ${pause}::float8 * interval '1 second'
      end,
      uri_attempts = case when ${isFinal} then 0 else uri_attempts end,
      uri_updated_at = case when ${document !== undefined} then now() else uri_updated_at end
    where
      chain_id = ${chainId}
      and contract_address = ${toBytea(contract.contract_address)}::text::bytea
      -- What a later claim has read already is newer.
      and (uri_updated_at is null or uri_updated_at < ${lease} - ${CLAIM_SECONDS} * interval '1 second')
  `;
}
