import { type Hex, numberToHex, toFunctionSelector } from "viem";
import { readText } from "../chain/answer.ts";
import { word } from "../chain/word.ts";
import { type Call, type CallAnswer, faultOf, type ReadCalls } from "../chain/call.ts";
import { type Failure, failure, type Postponed } from "../fetch/failure.ts";
import { ID_PLACE, MAX_URI_BYTES } from "../document/document.ts";
import { findStaticUri } from "./static-uri.ts";

const URI_FUNCTIONS = ["tokenURI", "uri", "baseURI"] as const;
type UriFunction = (typeof URI_FUNCTIONS)[number];

type TokenToRead = {
  contract_address: Hex;
  token_id: string;
  standard: string | null;
  /** The function that returned a URI of this contract before. */
  uri_function: string | null;
};

/** A URI with {id} still in it, and the function that returned it. */
export type TokenUri = { kind: "uri"; uri: string; uriFunction: UriFunction | null };

/** The URIs of tokens, in the order asked, read in batches. By the function of their standard, and after a revert by others. */
export async function readTokenUris(
  readCalls: ReadCalls,
  { chainId, tokens }: { chainId: number; tokens: TokenToRead[] },
): Promise<(TokenUri | Failure | Postponed)[]> {
  const results: (TokenUri | Failure | Postponed | undefined)[] = tokens.map((token) => {
    const uri = findStaticUri({ chainId, ...token });
    return uri === undefined ? undefined : { kind: "uri", uri, uriFunction: null };
  });
  for (let round = 0; round < URI_FUNCTIONS.length; round++) {
    const asked = tokens.flatMap((token, i) =>
      isOpen(results[i]) ? (functionsFor(token)[round] ?? []).map((uriFunction) => ({ i, token, uriFunction })) : [],
    );
    if (asked.length === 0) break;
    const answers = await readCalls(asked.map(({ token, uriFunction }) => callFor(token, uriFunction)));
    asked.forEach(({ i, token, uriFunction }, at) => {
      if (!isOpen(results[i])) return;
      const result = toResult(answers[at]!, { token, uriFunction });
      // A later revert tells less than an earlier result, an empty text for example.
      if (!isRevert(result)) results[i] = result;
      else results[i] ??= result;
    });
  }
  return results.map((result) => result ?? failure("revert", "The contract has no function for URIs."));
}

/** A URI with {id} filled in: as the standard says, or in other forms. Source: EIP-1155. */
export function fillInId(
  uri: string,
  { tokenId, form }: { tokenId: string; form: "hex64" | "decimal" | "hex" },
): string {
  const text = form === "decimal" ? tokenId : form === "hex" ? numberToHex(BigInt(tokenId)) : hex64Of(tokenId);
  return uri.replaceAll(ID_PLACE, text);
}

/** What replaces {id} in a document. Only ERC-1155 gives it a meaning. Source: EIP-1155. */
export function hexTokenIdOf({ token_id, standard }: Pick<TokenToRead, "token_id" | "standard">): string | undefined {
  return standard === "ERC1155" ? hex64Of(token_id) : undefined;
}

function hex64Of(tokenId: string): string {
  return numberToHex(BigInt(tokenId), { size: 32 }).slice(2);
}

/** Whether the next function is to be tried: not answered, reverted, or an empty URI. */
function isOpen(result: TokenUri | Failure | Postponed | undefined): boolean {
  return result === undefined || isRevert(result) || (result.kind === "failure" && result.code === "no_uri");
}

function isRevert(result: TokenUri | Failure | Postponed): boolean {
  return result.kind === "failure" && result.code === "revert";
}

/**
 * The functions to try, those of a round in one batch: the first that answers counts. What worked for the contract before
 * is asked along with the standard's own function and not in its place, which may revert for a burned or unrevealed token
 * alone, be there only since an upgrade, or be that of another standard's tokens. `baseURI` is always last: it also
 * answers for burned tokens, and isn't the token's own URI.
 */
function functionsFor({ standard, uri_function }: TokenToRead): UriFunction[][] {
  const [own, other] = standard === "ERC1155" ? (["uri", "tokenURI"] as const) : (["tokenURI", "uri"] as const);
  const rounds: UriFunction[][] = uri_function === other ? [[own, other]] : [[own], [other]];
  return standard === "ERC1155" ? rounds : [...rounds, ["baseURI"]];
}

/** Encodes a call by hand, because this is done for every token. */
function callFor({ contract_address: to, token_id }: TokenToRead, uriFunction: UriFunction): Call {
  if (uriFunction === "baseURI") return { to, data: SELECTORS.baseURI };
  return { to, data: `${SELECTORS[uriFunction]}${word(BigInt(token_id))}` };
}

const SELECTORS: Record<UriFunction, Hex> = {
  tokenURI: toFunctionSelector("tokenURI(uint256)"),
  uri: toFunctionSelector("uri(uint256)"),
  baseURI: toFunctionSelector("baseURI()"),
};

function toResult(
  answer: CallAnswer,
  { token, uriFunction }: { token: TokenToRead; uriFunction: UriFunction },
): TokenUri | Failure | Postponed {
  if (answer.kind === "fault") return faultOf(answer);
  if (answer.kind === "none") return failure("revert", `${uriFunction} ${answer.message ?? "reverts."}`);
  if (answer.data.length > MAX_URI_BYTES) return failure("too_large", `A URI of ${answer.data.length} bytes.`);
  const uri = readText(answer.data, { maxBytes: MAX_URI_BYTES });
  if (uri === undefined) return failure("bad_answer", `${uriFunction} returns no text.`);
  if (uri.trim() === "") return failure("no_uri", `${uriFunction} returns an empty text.`);
  return { kind: "uri", uri: uriFunction === "baseURI" ? uri + token.token_id : uri, uriFunction };
}
