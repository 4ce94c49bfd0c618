import type { Sql } from "postgres";
import { CLAIM_SECONDS } from "./claim.ts";

/** How many rows are made due in one step, so that a worker waits for none of them long. */
const STEP = 10_000;
/** What is due sooner may be under way, and comes soon by itself. */
export const SOON_SECONDS = Math.max(...Object.values(CLAIM_SECONDS));

/** How much failed and was put off: documents of tokens, their media, and what is read of contracts. */
export type PutOff = { documents: number; media: number; contracts: number };

/** Makes all that was put off due now. Returns how much that was. `onProgress` gets it after each step, so far. */
export async function retryPutOff(
  sql: Sql,
  { chainId, onProgress }: { chainId: number; onProgress: (soFar: PutOff) => void },
): Promise<PutOff> {
  const putOff: PutOff = { documents: 0, media: 0, contracts: 0 };
  const retry = async (kind: keyof PutOff, table: string, column: string, condition = sql`true`) => {
    for (;;) {
      const { count } = await sql`
        update offchain.${sql(table)}
        set ${sql(column)} = now()
        where ctid = any (
          array(
            select ctid
            from offchain.${sql(table)}
            where
              chain_id = ${chainId}
              and ${sql(column)} > now() + ${SOON_SECONDS} * interval '1 second'
              and ${condition}
            order by ${sql(column)}
            limit ${STEP}
            for update skip locked
          )
        )
      `;
      putOff[kind] += count;
      if (count < STEP) return;
      onProgress(putOff);
    }
  };
  await retry("documents", "token_metadata", "due_at", sql`turn is null`);
  await retry("media", "token_metadata", "media_due_at");
  await retry("contracts", "contract_metadata", "due_at");
  await retry("contracts", "contract_metadata", "uri_due_at");
  return putOff;
}
