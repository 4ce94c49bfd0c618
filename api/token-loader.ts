import type { Sql } from "postgres";
import { type RawRow, toHex, toText } from "./database.ts";
import { listBatch } from "./token.ts";

/** One token of `listBatch`; undefined where it is unknown or its contract hidden. */
export type TokenLoader = (wanted: Wanted) => Promise<RawRow | undefined>;

type Wanted = { chainId: number; contractAddress: string; tokenId: string };
type Waiting = Wanted & { resolve: (row: RawRow | undefined) => void; reject: (error: unknown) => void };

/** Tokens of one statement: more would make the first wait for the last. */
const MAX_TOKENS = 50;
/** Statements at once. What comes meanwhile goes together with the next, which is what makes many requests cheap. */
const MAX_STATEMENTS = 2;

/**
 * Looks up the tokens that are asked for at the same moment by one statement. A statement for each would cost more than
 * half of such an answer, here and in Postgres. An idle loader waits for nobody: what arrived in this turn of the event
 * loop is what goes.
 */
export function createTokenLoader(sql: Sql): TokenLoader {
  let waiting: Waiting[] = [];
  let running = 0;
  let isScheduled = false;

  const schedule = () => {
    if (isScheduled || running >= MAX_STATEMENTS || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      const items = waiting.slice(0, MAX_TOKENS);
      waiting = waiting.slice(MAX_TOKENS);
      running += 1;
      void load(items).finally(() => {
        running -= 1;
        schedule();
      });
      schedule();
    });
  };

  async function load(items: Waiting[]): Promise<void> {
    try {
      const rows = await listBatch(sql, {
        chainId: items[0]?.chainId ?? 0,
        tokens: items.map(({ contractAddress, tokenId }) => ({
          contract_address: contractAddress,
          token_id: tokenId,
        })),
      });
      const found = new Map(rows.map((row) => [`${toHex(row[0])}/${toText(row[1])}`, row]));
      for (const { contractAddress, tokenId, resolve } of items) resolve(found.get(`${contractAddress}/${tokenId}`));
    } catch (error) {
      for (const { reject } of items) reject(error);
    }
  }

  return (wanted) =>
    new Promise((resolve, reject) => {
      waiting.push({ ...wanted, resolve, reject });
      schedule();
    });
}
