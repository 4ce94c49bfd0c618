import type { Sql } from "postgres";
import { toBytes } from "../../offchain/bytea.ts";
import { toArray } from "../sql/database.ts";

type VerifiedRow = { contract_address: string; verified_at: Date };

/** Collections that the operator has verified, oldest first. */
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

/** Marks a collection as verified or not. It needn't be indexed. A second call with the same value changes nothing. */
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

/** Those of some collections of the main network that the operator has verified. */
export async function findVerified(sql: Sql, { addresses }: { addresses: readonly string[] }): Promise<Set<string>> {
  const rows = await sql<{ contract_address: string }[]>`
    select '0x' || requested.address as contract_address
    from unnest(${toArray(addresses.map((address) => address.slice(2)))}::text[]) as requested (address)
    join offchain.verified_collection as verified
      on verified.contract_address = decode(requested.address, 'hex')
  `;
  return new Set(rows.map(({ contract_address }) => contract_address));
}
