import type { TransactionSql } from "postgres";
import type { Hex } from "viem";
import { toBytea } from "../bytea.ts";

/** What worked for a token of a contract: the function that gave its URI, and how the id is written in it. */
export type ContractMemory = { contract_address: Hex; uri_function: string | null; id_form: string | null };

/**
 * Remembers per contract what worked, to be asked first next time. Of one that somebody else changes nothing is: tokens
 * are locked here, and whoever locks them too begins with their contract. The next document says the same.
 */
export async function rememberContracts(
  tx: TransactionSql,
  { chainId, memories }: { chainId: number; memories: ContractMemory[] },
): Promise<void> {
  const byContract = new Map(memories.map((memory) => [memory.contract_address, memory]));
  if (byContract.size === 0) return;
  const rows = [...byContract.values()];
  await tx`
    update offchain.contract_metadata m
    set
      uri_function = coalesce(row.uri_function, m.uri_function),
      id_form = coalesce(row.id_form, m.id_form)
    from unnest(
      ${rows.map(({ contract_address }) => toBytea(contract_address))}::text[]::bytea[],
      ${rows.map(({ uri_function }) => uri_function) as string[]}::text[],
      ${rows.map(({ id_form }) => id_form) as string[]}::text[]
    ) as row (contract_address, uri_function, id_form)
    cross join lateral (
      select ctid
      from offchain.contract_metadata
      where
        chain_id = ${chainId}
        and contract_address = row.contract_address
      for update skip locked
    ) free
    where m.ctid = free.ctid
  `;
}
