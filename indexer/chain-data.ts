import type { Sql } from "postgres";
import { dropKeptChain } from "../history/keep/chunk-store.ts";

/** Forgets what the history engine and Ponder have fetched of a chain, so that it is fetched again. */
export async function dropChainData(sql: Sql, { chainId }: { chainId: number }): Promise<void> {
  await dropKeptChain(sql, { chainId });
  const tables = await sql<{ name: string }[]>`
    select table_name as name
    from information_schema.columns
    where table_schema = 'ponder_sync'
      and column_name = 'chain_id'
  `;
  // The intervals say what is there, so they go in the same step.
  await sql.begin(async (tx) => {
    for (const { name } of tables) await tx`delete from ${tx(`ponder_sync.${name}`)} where chain_id = ${chainId}`;
  });
}
