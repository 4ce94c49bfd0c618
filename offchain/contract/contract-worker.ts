import type { Sql } from "postgres";
import type { ReadCalls } from "../chain/call.ts";
import { claimDueContracts, storeContracts } from "./contract-queue.ts";
import { readContracts } from "./contract-reading.ts";

/** How many contracts are claimed at once. They need five to ten calls each, so some multicalls together. */
const CLAIM_SIZE = 100;

/** Reads due contracts until none is due. Returns how many were read. */
export async function readDueContracts(
  sql: Sql,
  { readCalls, network, chainId }: { readCalls: ReadCalls; network: string; chainId: number },
): Promise<number> {
  let total = 0;
  for (;;) {
    const contracts = await claimDueContracts(sql, { network, chainId, limit: CLAIM_SIZE });
    if (contracts.length === 0) return total;
    const readings = await readContracts(readCalls, contracts);
    await storeContracts(sql, { chainId, contracts, readings });
    total += contracts.length;
  }
}
