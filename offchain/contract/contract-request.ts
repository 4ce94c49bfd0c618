import type { Sql } from "postgres";
import type { Hex } from "viem";
import { toBytea } from "../bytea.ts";

/** The ids of the chains on which a contract is known, and indexed. */
export async function listContractChains(sql: Sql, { contractAddress }: { contractAddress: Hex }): Promise<number[]> {
  const rows = await sql<{ chain_id: number }[]>`
    select chain_id::float8 as chain_id
    from offchain.contract_metadata
    where
      contract_address = ${toBytea(contractAddress)}::text::bytea
      and not is_dropped
  `;
  return rows.map(({ chain_id }) => chain_id);
}

/** Makes a contract due again: its names, and its document. */
export async function requestContract(
  sql: Sql,
  { chainId, contractAddress }: { chainId: number; contractAddress: Hex },
): Promise<void> {
  await sql`
    update offchain.contract_metadata
    set uri_due_at = now(), due_at = now()
    where
      chain_id = ${chainId}
      and contract_address = ${toBytea(contractAddress)}::text::bytea
  `;
}
