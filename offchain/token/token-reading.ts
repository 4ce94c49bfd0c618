import { ID_PLACE, MAX_URI_BYTES } from "../document/document.ts";
import type { DocumentReader } from "../document/source-reader.ts";
import { toStoredDocument } from "../document/stored-document.ts";
import { type Failure, failure, type Postponed } from "../fetch/failure.ts";
import { parseUri } from "../uri/uri.ts";
import type { ClaimedToken } from "./token-queue.ts";
import type { TokenOutcome } from "./token-row.ts";
import { fillInId, hexTokenIdOf, type TokenUri } from "./token-uri.ts";

/** The longest token id, in decimal digits. */
const MAX_ID_LENGTH = 78;
const ID_FORMS = ["hex64", "decimal", "hex"] as const;
type IdForm = (typeof ID_FORMS)[number];
/**
 * Failures that can mean that the id has another form. Many servers have status 200 for what they don't find, and an
 * answer without a document or the page of their home.
 */
const NOT_FOUND = /^(?:http_4(?!29)\d\d|no_document|bad_json)$/;

/** What a token is read with. `uri`: what its contract said. */
export type ReadOptions = {
  uri: TokenUri | Failure | Postponed;
  chainId: number;
  readDocument: DocumentReader;
  /** Resolves when there is room to write: see `TokenWriter`. */
  room: () => Promise<void>;
};

/** What a token came to, or that it is to be read later. */
export type TokenReading = { kind: "read"; outcome: TokenOutcome } | Postponed;

/**
 * Reads the document of a token, in each form that its id may have in the URI until one leads to a document. A page
 * counts where none does.
 */
export async function readToken(
  token: ClaimedToken,
  { uri: found, chainId, readDocument, room }: ReadOptions,
): Promise<TokenReading> {
  if (found.kind === "postponed") return found;
  if (found.kind === "failure") return { kind: "read", outcome: { token, uri: undefined, result: found } };
  const hexTokenId = hexTokenIdOf(token);
  const forms = formsFor(found.uri, token);
  const places = forms.length > 0 ? found.uri.match(ID_PLACE)!.length : 0;
  const length = found.uri.length + places * MAX_ID_LENGTH;
  if (length > MAX_URI_BYTES) {
    const result = failure("too_large", `A URI of ${length} bytes once its id is in it.`);
    return { kind: "read", outcome: { token, uri: undefined, result } };
  }
  let page: TokenOutcome | undefined;
  let last: { uri: string; result: Failure } | undefined;
  let postponed: Postponed | undefined;
  for (const form of forms.length > 0 ? forms : [undefined]) {
    const uri = form === undefined ? found.uri : fillInId(found.uri, { tokenId: token.token_id, form });
    const source = parseUri(uri);
    const result = await readDocument(source, { chainId, hexTokenId, contract: token.contract_address, room });
    if (result.kind === "postponed") {
      postponed ??= result;
      // A gateway that can be asked may have it in another form.
      if (result.others && NOT_FOUND.test(result.others.code)) continue;
      break;
    }
    const { uriFunction } = found;
    // The only form says nothing of where files are.
    const idForm = forms.length > 1 ? form : undefined;
    if (result.kind === "document") {
      const outcome = { token, uri, result: toStoredDocument(result, { chainId }), uriFunction, idForm };
      if (!result.isPage) return { kind: "read", outcome };
      page ??= outcome;
      continue;
    }
    last ??= { uri, result };
    if (!NOT_FOUND.test(result.code)) break;
  }
  return postponed ?? { kind: "read", outcome: page ?? { token, ...last!, uriFunction: found.uriFunction } };
}

/**
 * The forms to try of the id in a URI, none where it has no place for it. In a URI that contains the document, only
 * ERC-1155 gives {id} a meaning, and one form. Source: EIP-1155.
 */
function formsFor(uri: string, { standard, id_form }: ClaimedToken): readonly IdForm[] {
  if (uri.search(ID_PLACE) < 0) return [];
  const { kind } = parseUri(uri);
  if (kind === "data" || kind === "inline") return standard === "ERC1155" ? ["hex64"] : [];
  const known = ID_FORMS.find((form) => form === id_form);
  return known ? [known, ...ID_FORMS.filter((form) => form !== known)] : ID_FORMS;
}
