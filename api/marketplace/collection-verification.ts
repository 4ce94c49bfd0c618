import type { Sql } from "postgres";
import { toBytes } from "../sql/database.ts";

export type VerifiedRow = { contract_address: string; verified_at: Date };

/** Collections that the operator vouches for, oldest first. */
export async function listVerified(sql: Sql): Promise<VerifiedRow[]> {
  return sql<VerifiedRow[]>`
    select
      '0x' || encode(contract_address, 'hex') as contract_address,
      verified_at
    from offchain.verified_collection
    order by
      verified_at,
      contract_address
  `;
}

/** Says of a collection whether the operator vouches for it, indexed or not. Saying it again changes nothing. */
export async function setVerified(
  sql: Sql,
  { contractAddress, isVerified }: { contractAddress: string; isVerified: boolean },
): Promise<void> {
  const address = toBytes(contractAddress);
  if (isVerified) {
    await sql`
      insert into offchain.verified_collection (contract_address)
      values (${address})
      on conflict do nothing
    `;
  } else await sql`delete from offchain.verified_collection where contract_address = ${address}`;
}

/** Whether the operator vouches for a collection of the main network. */
export async function isVerified(sql: Sql, { contractAddress }: { contractAddress: string }): Promise<boolean> {
  const rows = await sql`
    select
    from offchain.verified_collection
    where contract_address = ${toBytes(contractAddress)}
  `;
  return rows.length > 0;
}
