import type { Sql } from "postgres";
import { encodeFunctionData, type Hex, zeroAddress } from "viem";
import { allowanceAbi, contractAbi } from "../../abis/contract.ts";
import { toBytea } from "../bytea.ts";
import { isAddressAnswer, readBool, readLabel, readSmallInteger } from "../chain/answer.ts";
import type { Call, CallAnswer, ReadCalls } from "../chain/call.ts";
import { retryDelaySeconds } from "../retry.ts";

/** How long a claimed contract stays hidden from other workers, in seconds. Longer than the slowest batch. */
const CLAIM_SECONDS = 120;
/** Names are for lists. The longest honest name seen has 90 characters. */
const MAX_NAME_LENGTH = 200;
const MAX_SYMBOL_LENGTH = 64;
/** The largest plausible number of decimals of an ERC-20 token. A larger answer means something else. */
const MAX_DECIMALS = 36;
/**
 * A contract that answers nothing may not exist yet for a node that lags, and one that the index lacks may be back in
 * seconds, once the indexer has started again: both are asked so many times.
 */
const MAX_VAIN_ATTEMPTS = 4;

type DueContract = {
  contract_address: Hex;
  /** The end of the lease, to the microsecond. It identifies a claim. */
  due_at: string;
  attempts: number;
  is_indexed: boolean;
  /** Its first log was an ERC-721 event. Fungible tokens may write such events, too. */
  is_erc721: boolean;
  is_first_generation: boolean;
  /** The last of its tokens that has a holder, to ask for its owner. 0 where there is none. */
  token_id: string;
};

type ContractFacts = {
  name: string;
  symbol: string;
  erc165_type: "ERC721" | "ERC1155" | null;
  is_fungible: boolean;
};

/**
 * What could be read. A fact is missing where the node failed. `isSilent`: the contract answered nothing at all.
 * `againSeconds`: it wasn't asked, and is to be asked again by then.
 */
type ContractReading = Partial<ContractFacts> & {
  isFault: boolean;
  isSilent: boolean;
  againSeconds: number | undefined;
};

const ERC721 = "0x80ac58cd";
const ERC1155 = "0xd9b67a26";
/** The interface id of ERC-721's draft, used by the first collections. Source: the CryptoKitties contract. */
const ERC721_DRAFT = "0x9a20483d";
/** An interface that no contract may support: one that claims to answers yes to everything. Source: EIP-165. */
const INVALID = "0xffffffff";

/** Claims up to `limit` contracts whose names are due, oldest first. A contract whose worker died becomes due again. */
export async function claimDueContracts(
  sql: Sql,
  { network, chainId, limit }: { network: string; chainId: number; limit: number },
): Promise<DueContract[]> {
  const onchain = sql(`onchain_${network}`);
  return sql<DueContract[]>`
    with due as materialized (
      select chain_id, contract_address
      from offchain.contract_metadata
      where
        chain_id = ${chainId}
        and due_at <= now()
      order by due_at
      limit ${limit}
      for update skip locked
    ),
    claimed as (
      update offchain.contract_metadata m
      set
        due_at = now() + ${CLAIM_SECONDS} * interval '1 second',
        attempts = m.attempts + 1
      from due
      where (m.chain_id, m.contract_address) = (due.chain_id, due.contract_address)
      returning m.contract_address, m.due_at::text, m.attempts
    )
    select
      '0x' || encode(claimed.contract_address, 'hex') as contract_address,
      claimed.due_at,
      claimed.attempts,
      contract.contract_address is not null as is_indexed,
      coalesce(contract.contract_type = 'ERC721', false) as is_erc721,
      coalesce(contract.is_first_generation, false) as is_first_generation,
      coalesce(
        (
          select token.token_id
          from ${onchain}.token
          where
            token.contract_address = claimed.contract_address
            and token.owner <> decode(${zeroAddress.slice(2)}, 'hex')
          order by
            token.contract_address desc,
            token.token_id desc
          limit 1
        ),
        0
      ) as token_id
    from claimed
    left join ${onchain}.contract using (contract_address)
  `;
}

/**
 * Reads contracts' names and types, in the order asked. Contracts that log like ERC-721 but don't claim to support it
 * are also checked for being fungible tokens.
 */
export async function readContracts(readCalls: ReadCalls, contracts: DueContract[]): Promise<ContractReading[]> {
  const labels = await readEach(readCalls, contracts.map(labelCallsOf));
  const isDoubtful = contracts.map(({ is_erc721 }, i) => is_erc721 && !saysNft(labels[i]!));
  const shapes = await readEach(
    readCalls,
    contracts.map((contract, i) => (isDoubtful[i] ? shapeCallsOf(contract) : [])),
  );
  return contracts.map((contract, i) => toReading(contract, { labels: labels[i]!, shape: shapes[i]! }));
}

/** The answers to each list of calls. All calls are read together. */
async function readEach(readCalls: ReadCalls, questions: Call[][]): Promise<CallAnswer[][]> {
  const answers = await readCalls(questions.flat());
  let start = 0;
  return questions.map((calls) => answers.slice(start, (start += calls.length)));
}

/**
 * Stores what was read. Faults are tried again for ever, with growing pauses. A contract's answers are final until it
 * logs a change, unless it answers nothing at all, as a node that lags may not have it yet, or the index lacks it. Where
 * nothing was asked, that counts as no attempt.
 */
export async function storeContracts(
  sql: Sql,
  { chainId, contracts, readings }: { chainId: number; contracts: DueContract[]; readings: ContractReading[] },
): Promise<void> {
  const rows = contracts.map(({ contract_address, due_at, attempts, is_indexed }, i) => {
    const { name, symbol, erc165_type, is_fungible, isFault, isSilent, againSeconds } = readings[i]!;
    const isDueAgain = isFault || ((isSilent || !is_indexed) && attempts < MAX_VAIN_ATTEMPTS);
    return {
      contract_address: toBytea(contract_address),
      lease: due_at,
      name,
      symbol,
      erc165_type,
      is_type_read: erc165_type !== undefined,
      is_fungible,
      error_code: isFault ? "rpc" : isSilent ? "silent" : null,
      is_asked: againSeconds === undefined,
      due_in: againSeconds ?? (isDueAgain ? retryDelaySeconds(attempts) : null),
    };
  });
  // Everybody locks contracts in this order.
  rows.sort((a, b) => (a.contract_address < b.contract_address ? -1 : 1));
  await sql`
    update offchain.contract_metadata m
    set
      name = coalesce(nullif(row.name, ''), m.name),
      is_name_of_uri = m.is_name_of_uri and coalesce(row.name, '') = '',
      symbol = coalesce(nullif(row.symbol, ''), m.symbol),
      erc165_type = case when row.is_type_read then row.erc165_type else m.erc165_type end,
      is_fungible = coalesce(row.is_fungible, m.is_fungible),
      error_code = case when row.is_asked then row.error_code else m.error_code end,
      -- Another due time than this claim's lease: it was asked for again meanwhile.
      due_at = case when m.due_at = row.lease then now() + row.due_in * interval '1 second' else m.due_at end,
      attempts = case
        when row.due_in is null then 0
        when not row.is_asked then greatest(m.attempts - 1, 0)
        else m.attempts
      end,
      updated_at = now()
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as row (
      contract_address bytea,
      lease timestamptz,
      name text,
      symbol text,
      erc165_type text,
      is_type_read boolean,
      is_fungible boolean,
      error_code text,
      is_asked boolean,
      due_in double precision
    )
    where
      m.chain_id = ${chainId}
      and m.contract_address = row.contract_address
  `;
}

const supportsCall = (to: Hex, interfaceId: Hex): Call => ({
  to,
  data: encodeFunctionData({ abi: contractAbi, functionName: "supportsInterface", args: [interfaceId] }),
});
const viewCall = (to: Hex, functionName: "name" | "symbol" | "decimals"): Call => ({
  to,
  data: encodeFunctionData({ abi: contractAbi, functionName }),
});

const labelCallsOf = ({ contract_address: to }: DueContract): Call[] => [
  viewCall(to, "name"),
  viewCall(to, "symbol"),
  supportsCall(to, ERC721),
  supportsCall(to, ERC1155),
  supportsCall(to, INVALID),
];

const shapeCallsOf = ({ contract_address: to, token_id }: DueContract): Call[] => [
  supportsCall(to, ERC721_DRAFT),
  viewCall(to, "decimals"),
  { to, data: encodeFunctionData({ abi: contractAbi, functionName: "ownerOf", args: [BigInt(token_id)] }) },
  ...(["isApprovedForAll", "allowance"] as const).map((functionName) => ({
    to,
    data: encodeFunctionData({ abi: allowanceAbi, functionName, args: [to, to] }),
  })),
];

const isFaulty = (...of: CallAnswer[]) => of.some(({ kind }) => kind === "fault");
const says = (answer: CallAnswer | undefined) => answer?.kind === "data" && readBool(answer.data) === true;
const saysNft = ([, , erc721, erc1155]: CallAnswer[]) => says(erc721) || says(erc1155);

function toReading(
  contract: DueContract,
  { labels, shape }: { labels: CallAnswer[]; shape: CallAnswer[] },
): ContractReading {
  const [name, symbol, erc721, erc1155, invalid] = labels as [
    CallAnswer,
    CallAnswer,
    CallAnswer,
    CallAnswer,
    CallAnswer,
  ];
  const label = (answer: CallAnswer, maxLength: number) =>
    isFaulty(answer) ? undefined : answer.kind === "data" ? readLabel(answer.data, { maxLength }) : "";
  const types = [says(erc721) && ("ERC721" as const), says(erc1155) && ("ERC1155" as const)].filter((type) => !!type);
  const answers = [...labels, ...shape];
  const reading: ContractReading = {
    name: label(name, MAX_NAME_LENGTH),
    symbol: label(symbol, MAX_SYMBOL_LENGTH),
    isFault: isFaulty(...answers),
    isSilent: answers.every(({ kind }) => kind === "none"),
    againSeconds: againSecondsOf(answers),
  };
  if (!isFaulty(erc721, erc1155, invalid))
    reading.erc165_type = types.length === 1 && !says(invalid) ? types[0]! : null;
  // Without its first log nobody knows what it must be asked.
  if (contract.is_indexed && !isFaulty(...answers)) reading.is_fungible = shape.length > 0 && isMoney(contract, shape);
  return reading;
}

/** When to ask again. Undefined where anything was asked: one that is slow each time then gets growing pauses. */
function againSecondsOf(answers: CallAnswer[]): number | undefined {
  const pauses = answers.flatMap((answer) => (answer.kind === "fault" ? (answer.againSeconds ?? []) : []));
  return pauses.length === answers.length ? Math.max(...pauses) : undefined;
}

/**
 * Whether a contract's transfers move amounts and not tokens. A contract that knows an owner of a token, or an operator
 * for all tokens of somebody, is no fungible token; a hybrid (ERC-404) also has allowances and decimals. Early NFTs
 * have decimals now and then, mostly 0. Where all of Transfer is indexed more proof is needed, because fungible tokens
 * rarely index amounts.
 */
function isMoney({ is_first_generation }: DueContract, shape: CallAnswer[]): boolean {
  const [draft, decimals, owner, operator, allowance] = shape;
  const isNft =
    says(draft) ||
    (owner?.kind === "data" && isAddressAnswer(owner.data)) ||
    (operator?.kind === "data" && readBool(operator.data) !== undefined);
  if (isNft || decimals?.kind !== "data") return false;
  const places = readSmallInteger(decimals.data, { max: MAX_DECIMALS });
  if (is_first_generation) return places !== undefined;
  return places !== undefined && places > 0 && allowance?.kind === "data" && allowance.data.length === 32;
}
