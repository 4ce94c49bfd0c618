import {
  type AbiParameter,
  type Address,
  decodeAbiParameters,
  encodeAbiParameters,
  type Hex,
  parseAbiParameters,
  toFunctionSelector,
} from "viem";
import { type CallAnswer, faultOf, type ReadCalls, readOffset } from "../chain/call.ts";
import { type Failure, failure, type Postponed } from "../fetch/failure.ts";
import { MAX_DOCUMENT_BYTES } from "./document.ts";

/** The selector of resolveMode(), which tells how a contract wants to be asked. Source: ERC-4804. */
const RESOLVE_MODE = "0xdd473fae";
const MAX_ARGUMENTS = 32;
/** Limits of the types that a URI may declare for the answer: their length as text, and how deep tuples nest. */
const MAX_RETURNS_LENGTH = 200;
const MAX_NESTING = 4;

/**
 * What an answer may come to when it is decoded. Its parts may all point at the same bytes, which are read once for each:
 * a list of 130 kB came to gigabytes.
 */
const MAX_DECODED_BYTES = 32 * 2 ** 20;
/** So many times viem reads bytes again. */
const MAX_READS_AGAIN = 8192;

const MIME_TYPES: Record<string, string> = {
  html: "text/html",
  json: "application/json",
  svg: "image/svg+xml",
  png: "image/png",
  txt: "text/plain",
};

type Web3Content = { kind: "content"; bytes: Buffer; mimeType: string | undefined };

/**
 * Reads a web3:// URL by eth_call, in manual and in auto mode. Names in place of addresses are not resolved.
 *
 * Source: ERC-4804 as corrected by ERC-6860
 */
export async function readWeb3(
  url: string,
  { readCalls, chainId }: { readCalls: Map<number, ReadCalls>; chainId: number },
): Promise<Web3Content | Failure | Postponed> {
  const [, address, chain, rest = ""] =
    /^[a-z\d-]+:\/\/(?:0x[\da-f]{40}@)?(0x[\da-f]{40})(?::(\d{1,15}))?([/?][^#]*)?/i.exec(url) ?? [];
  if (address === undefined) return failure("unsupported_uri", `"${url.slice(0, 200)}" names no contract address.`);
  // The standard's default is chain 1. A token's contract rather means its own chain.
  const target = chain === undefined ? chainId : Number(chain);
  const read = readCalls.get(target);
  if (!read) return failure("unsupported_uri", `Chain ${target} is not served here.`);
  const to = address.toLowerCase() as Address;

  const [mode] = await read([{ to, data: RESOLVE_MODE }]);
  if (mode?.kind === "fault") return faultOf(mode);
  const name = mode?.kind === "data" ? mode.data.subarray(0, 32).toString("latin1").replaceAll("\0", "") : "";
  if (name === "manual") return readManual(read, { to, pathQuery: rest });
  if (name !== "" && name !== "auto") return failure("unsupported_uri", `Resolve mode "${name.slice(0, 32)}".`);
  return readAuto(read, { to, pathQuery: rest });
}

type Target = { to: Address; pathQuery: string };

async function readManual(read: ReadCalls, { to, pathQuery }: Target): Promise<Web3Content | Failure | Postponed> {
  const [answer] = await read([{ to, data: `0x${Buffer.from(pathQuery || "/").toString("hex")}` }]);
  const extension = /\.([a-z\d]+)(?:\?|$)/i.exec(pathQuery)?.[1]?.toLowerCase() ?? "html";
  return toBytes(answer, MIME_TYPES[extension]);
}

async function readAuto(read: ReadCalls, { to, pathQuery }: Target): Promise<Web3Content | Failure | Postponed> {
  const [path = "", query = ""] = pathQuery.split(/\?(.*)/s);
  const returns = readReturns(query);
  if (!isReadable(returns)) return failure("bad_uri", `Can't read "${returns.slice(0, 60)}" as types.`);
  const [method = "", ...values] = path.split("/").slice(1);
  if (values.length > MAX_ARGUMENTS || !/^[\w$]*$/.test(method))
    return failure("bad_uri", `Can't call "${method.slice(0, 60)}".`);
  let data: Hex = "0x";
  try {
    if (method !== "") {
      const parameters = values.map((value) => toArgument(decodeURIComponent(value)));
      const types = parameters.map(({ type }) => type);
      const encoded = encodeAbiParameters(
        types.map((type) => ({ type })),
        parameters.map(({ value }) => value),
      );
      data = `${toFunctionSelector(`${method}(${types.join(",")})`)}${encoded.slice(2)}`;
    }
  } catch {
    return failure("unsupported_uri", `Can't read the arguments of "${path.slice(0, 200)}".`);
  }
  const [answer] = await read([{ to, data }]);
  const extension = /\.([a-z\d]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  if (returns === "") return toBytes(answer, MIME_TYPES[extension]);
  return toJson(answer, returns);
}

function readReturns(query: string): string {
  const parameters = new URLSearchParams(query);
  return parameters.getAll("returns").at(-1) ?? parameters.getAll("returnTypes").at(-1) ?? "";
}

/** Whether types aren't too long or nested too deep: the parser takes a third of a second for the deepest in a URI. */
function isReadable(returns: string): boolean {
  if (returns.length > MAX_RETURNS_LENGTH) return false;
  let depth = 0;
  for (const character of returns) {
    if (character === "(" && ++depth > MAX_NESTING) return false;
    if (character === ")") depth--;
  }
  return true;
}

/** An argument: `type!value`, or a value whose form tells its type. */
function toArgument(text: string): { type: string; value: unknown } {
  const [, type, value = text] = /^(u?int\d*|bool|address|bytes\d*|string)!(.*)$/s.exec(text) ?? [];
  if (type !== undefined) return { type: type.replace(/^(u?int)$/, "$1256"), value: toValue(type, value) };
  if (/^\d+$/.test(text)) return { type: "uint256", value: BigInt(text) };
  if (/^0x[\da-f]{64}$/i.test(text)) return { type: "bytes32", value: text };
  if (/^0x[\da-f]{40}$/i.test(text)) return { type: "address", value: text.toLowerCase() };
  if (/^0x(?:[\da-f]{2})*$/i.test(text)) return { type: "bytes", value: text };
  if (text === "true" || text === "false") return { type: "bool", value: text === "true" };
  throw new Error("A name, which nobody resolves here.");
}

function toValue(type: string, value: string): unknown {
  if (/^u?int/.test(type)) return BigInt(value);
  if (type === "bool") return value === "true";
  return type === "address" ? value.toLowerCase() : value;
}

/** The content of an answer as ABI bytes. A string is encoded in the same way. */
function toBytes(answer: CallAnswer | undefined, mimeType: string | undefined): Web3Content | Failure | Postponed {
  if (answer?.kind !== "data") return noAnswer(answer);
  try {
    const start = readOffset(answer.data, 0);
    const length = readOffset(answer.data, start);
    return { kind: "content", bytes: answer.data.subarray(start + 32, start + 32 + length), mimeType };
  } catch {
    return failure("bad_answer", "The contract returned no bytes.");
  }
}

function toJson(answer: CallAnswer | undefined, returns: string): Web3Content | Failure | Postponed {
  if (answer?.kind !== "data") return noAnswer(answer);
  if (answer.data.length > MAX_DOCUMENT_BYTES)
    return failure("too_large", `${answer.data.length} bytes in a contract's answer.`);
  const hex: Hex = `0x${answer.data.toString("hex")}`;
  try {
    const types = returns.replace(/^\(|\)$/g, "");
    const parameters = types === "" ? [] : (parseAbiParameters(types) as AbiParameter[]);
    if (sumOf(parameters.map(countReads)) * answer.data.length > MAX_DECODED_BYTES)
      return failure("too_large", `${answer.data.length} bytes of ${returns.slice(0, 100)} in a contract's answer.`);
    const values = parameters.length === 0 ? [hex] : (decodeAbiParameters(parameters, hex) as unknown[]);
    // A single string is the content itself in what people write. As a list it would be no document.
    const [only] = values;
    const isText = values.length === 1 && typeof only === "string" && parameters[0]?.type === "string";
    const text = isText
      ? only
      : JSON.stringify(values, (_, value: unknown) => (typeof value === "bigint" ? `0x${value.toString(16)}` : value));
    return { kind: "content", bytes: Buffer.from(text), mimeType: isText ? undefined : "application/json" };
  } catch {
    return failure("bad_answer", `The contract's answer is not ${returns.slice(0, 100)}.`);
  }
}

/** How many times the bytes of an answer may be read for a part of it. */
function countReads(parameter: Parameter): number {
  const element = elementOf(parameter);
  if (element) return isDynamic(element) ? MAX_READS_AGAIN * countReads(element) : 1;
  return parameter.components ? sumOf(parameter.components.map(countReads)) : 1;
}

/** Whether it is somewhere else in the answer, at a place that the answer says. */
function isDynamic(parameter: Parameter): boolean {
  const { type, components } = parameter;
  const element = elementOf(parameter);
  if (element) return type.endsWith("[]") || isDynamic(element);
  return components ? components.some(isDynamic) : type === "string" || type === "bytes";
}

/** What an array has; undefined of what is none. */
function elementOf({ type, ...others }: Parameter): Parameter | undefined {
  return type.endsWith("]") ? { ...others, type: type.slice(0, type.lastIndexOf("[")) } : undefined;
}

type Parameter = AbiParameter & { components?: readonly AbiParameter[] };

const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

function noAnswer(answer: CallAnswer | undefined): Failure | Postponed {
  if (answer?.kind === "fault") return faultOf(answer);
  return failure("revert", "The contract has no answer.");
}
