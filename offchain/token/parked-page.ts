import type { Sql } from "postgres";
import { toBytea } from "../bytea.ts";
import { failure } from "../fetch/failure.ts";
import { hostAndPortOf } from "../fetch/host.ts";
import type { TokenOutcome } from "./token-row.ts";

/**
 * Makes failures of pages that came where a document was before: once a project's domain is another one's, it answers
 * every URL with a page. A page counts where the contract has given the token a new URI, and where there was one before.
 */
export async function refuseParkedPages(
  sql: Sql,
  { chainId, outcomes }: { chainId: number; outcomes: TokenOutcome[] },
): Promise<TokenOutcome[]> {
  const pages = outcomes.filter(({ token, result }) => result.kind === "document" && result.isPage && token.is_fetched);
  if (pages.length === 0) return outcomes;
  const rows = await sql<{ contract_address: string; token_id: string }[]>`
    select
      '0x' || encode(m.contract_address, 'hex') as contract_address,
      m.token_id
    from unnest(
      ${pages.map(({ token }) => toBytea(token.contract_address))}::text[]::bytea[],
      ${pages.map(({ token }) => token.token_id)}::text[]::numeric[],
      ${pages.map(({ uri }) => uri ?? "")}::text[]
    ) as page (contract_address, token_id, uri)
    join offchain.token_metadata m
      on m.chain_id = ${chainId}
      and m.contract_address = page.contract_address
      and m.token_id = page.token_id
    where
      m.token_uri = page.uri
      -- A JSON string: a page begins with a bracket, behind its quote and white space.
      and m.raw_json !~ '^"(\\s|\\\\[nrt])*<'
  `;
  const refused = new Set(rows.map(({ contract_address, token_id }) => `${contract_address} ${token_id}`));
  return outcomes.map((outcome) => {
    const { token, result } = outcome;
    if (result.kind !== "document" || !refused.has(`${token.contract_address} ${token.token_id}`)) return outcome;
    const host = hostAndPortOf(result.from);
    return {
      ...outcome,
      result: failure("bad_json", `${host} answers with a page in place of the document.`, { host }),
    };
  });
}
