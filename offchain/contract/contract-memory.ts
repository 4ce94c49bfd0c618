import type { TransactionSql } from "postgres";
import type { Hex } from "viem";
import { toBytea } from "../bytea.ts";

/** What worked for a contract's tokens: the function that returned a URI, and the form of the id in it. */
export type ContractMemory = { contract_address: Hex; uri_function: string | null; id_form: string | null };

/**
 * Remembers for each contract what worked, to try it at once next time. A contract whose row is locked is left out: this
 * also holds locks on tokens, and everybody else locks the contract before its tokens. The next document brings the
 * same.
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
