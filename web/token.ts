import type { z } from "zod";
import { streamOf } from "../api/sql/database.ts";
import { unknownToken } from "../api/http/errors.ts";
import type { BatchToken } from "../api/token/token.ts";
import { listBatch } from "../api/token/token-lookup.ts";
import type { Reader } from "./reader.ts";
import { oneLine, shortenId } from "./text.ts";

/** A token with all that the API says of it. */
export type Token = z.infer<typeof BatchToken>;

/** The answer of the API for one token. @throws HttpError 404 */
export async function loadToken(
  { sql, chainId }: Reader,
  { contractAddress, tokenId }: { contractAddress: string; tokenId: string },
): Promise<Token> {
  const tokens = [{ contract_address: contractAddress, token_id: tokenId }];
  const [item] = await listBatch(streamOf(sql), { chainId, tokens });
  if (!item) throw unknownToken(contractAddress, tokenId);
  return JSON.parse(item) as Token;
}

/** A token's name for people; its id where it has none. */
export const tokenName = ({ metadata, token_id }: Pick<Token, "metadata" | "token_id">): string =>
  oneLine(metadata.normalized.name) || `#${shortenId(token_id)}`;
