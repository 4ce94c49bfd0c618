import { encodeFunctionData, type Hex } from "viem";
import { allowanceAbi, contractAbi } from "../../abis/contract.ts";
import { isAddressAnswer, readBool, readLabel, readSmallInteger } from "../chain/answer.ts";
import type { Call, CallAnswer, ReadCalls } from "../chain/call.ts";
import type { DueContract } from "./contract-queue.ts";

/** Names are for lists. The longest honest name seen has 90 characters. */
const MAX_NAME_LENGTH = 200;
const MAX_SYMBOL_LENGTH = 64;
/** The largest plausible number of decimals of an ERC-20 token. A larger answer means something else. */
const MAX_DECIMALS = 36;

const ERC721 = "0x80ac58cd";
const ERC1155 = "0xd9b67a26";
/** The interface id of ERC-721's draft, used by the first collections. Source: the CryptoKitties contract. */
const ERC721_DRAFT = "0x9a20483d";
/** An interface that no contract may support: one that claims to answers yes to everything. Source: EIP-165. */
const INVALID = "0xffffffff";

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
export type ContractReading = Partial<ContractFacts> & {
  isFault: boolean;
  isSilent: boolean;
  againSeconds: number | undefined;
};

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
