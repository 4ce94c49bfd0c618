import type { Sql } from "postgres";
import { type RawRow, toHex, toText } from "./database.ts";
import { listBatch } from "./token.ts";

/** One token of `listBatch`; undefined where it is unknown or its contract hidden. */
export type TokenLoader = (wanted: Wanted) => Promise<RawRow | undefined>;

type Wanted = { chainId: number; contractAddress: string; tokenId: string };
type Waiting = Wanted & { resolve: (row: RawRow | undefined) => void; reject: (error: unknown) => void };

/** Tokens of one statement: more would make the first wait for the last. */
const MAX_TOKENS = 50;

/**
 * Looks up the tokens that are asked for at the same moment by one statement. A statement for each would cost more than
 * half of such an answer, here and in Postgres. Nobody waits for others to come: what arrived in this turn of the
 * event loop is what goes.
 */
export function createTokenLoader(sql: Sql): TokenLoader {
  let waiting: Waiting[] = [];

  function flush(): void {
    const all = waiting;
    waiting = [];
    for (let start = 0; start < all.length; start += MAX_TOKENS) void load(all.slice(start, start + MAX_TOKENS));
  }

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
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ ...wanted, resolve, reject });
    });
}
