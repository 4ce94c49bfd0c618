import type { Sql } from "postgres";
import { toArray } from "../sql/database.ts";
import type { TokenKey } from "./token-lookup.ts";

/** A token in a list: its name and its stored media, empty where there is none. */
export type TokenCard = {
  contract_address: string;
  token_id: string;
  name: string;
  image_key: string;
  image_mime_type: string;
  animation_key: string;
  animation_mime_type: string;
};

/** How many tokens are shown for each contract in a list of contracts. */
const PREVIEW_TOKENS = 4;

/** The cards of these tokens, in no order. Tokens without metadata are left out. */
export async function listTokenCards(
  sql: Sql,
  { chainId, tokens }: { chainId: number; tokens: readonly TokenKey[] },
): Promise<TokenCard[]> {
  if (tokens.length === 0) return [];
  return sql<TokenCard[]>`
    select
      '0x' || requested.contract_address as contract_address,
      requested.token_id,
      document.value ->> 'name' as name,
      document.value ->> 'image_key' as image_key,
      document.value ->> 'image_mime_type' as image_mime_type,
      document.value ->> 'animation_key' as animation_key,
      document.value ->> 'animation_mime_type' as animation_mime_type
    from unnest(
      ${toArray(tokens.map((token) => token.contract_address.slice(2)))}::text[],
      ${toArray(tokens.map((token) => token.token_id))}::numeric[]
    ) as requested (contract_address, token_id)
    cross join lateral (
      select found.normalized
      from token_metadata as found
      where
        found.chain_id = ${chainId}
        and found.contract_address = decode(requested.contract_address, 'hex')
        and found.token_id = requested.token_id
        and found.normalized is not null
      limit 1
    ) as token_metadata
    cross join lateral (select token_metadata.normalized::json as value offset 0) as document
  `;
}

/** The first tokens of each of these contracts. */
export async function listPreviewTokens(
  sql: Sql,
  { addresses }: { addresses: readonly string[] },
): Promise<TokenKey[]> {
  return sql<TokenKey[]>`
    select
      '0x' || requested.address as contract_address,
      token.token_id
    from unnest(${toArray(addresses.map((address) => address.slice(2)))}::text[]) as requested (address)
    cross join lateral (
      select found.token_id
      from token as found
      where found.contract_address = decode(requested.address, 'hex')
      order by found.token_id
      limit ${PREVIEW_TOKENS}
    ) as token
  `;
}
