import { createRawMatcher, logCallsOf, type QueryForm } from "./log-query.ts";
import { readLogAnswer } from "./log-answer.ts";
import { createLogTable } from "./log-table.ts";
import { sortAnswers } from "../rpc/rpc-answer.ts";
import { TooLargeError } from "../rpc/rpc-error.ts";
import type { RpcNode, RpcPool } from "../rpc/rpc-pool.ts";
import type { LogFilter } from "../wanted.ts";

/** How many of the last blocks are searched for logs with four topics, fewest first. */
const PROBED_BLOCKS = [5, 50, 500];

/**
 * Finds out which form of query a node understands: asks for the same blocks in both forms. Undefined where these
 * blocks have no log that could tell.
 */
export async function probeForm(
  pool: RpcPool,
  node: RpcNode,
  { filter, toBlock }: { filter: LogFilter; toBlock: number },
): Promise<QueryForm | undefined> {
  const probed = filter.filter(({ addresses, minTopics }) => addresses === "*" && minTopics > 1);
  const isWanted = createRawMatcher(probed);
  const placesOf = (form: QueryForm, fromBlock: number) =>
    pool.ask({ order: fromBlock, only: node }, async (_, post) => {
      const places = new Set<string>();
      for (const call of logCallsOf(probed, { form, fromBlock, toBlock, maxAddresses: node.maxAddresses })) {
        const bytes = await post([call]);
        const answers = readLogAnswer(createLogTable(16), {
          bytes,
          isWanted: (log) => {
            if (isWanted(log)) places.add(`${log.blockNumber} ${log.logIndex}`);
            return false;
          },
        });
        sortAnswers(answers, 1);
      }
      return places;
    });
  for (const blocks of PROBED_BLOCKS) {
    const fromBlock = Math.max(0, toBlock - blocks + 1);
    try {
      const all = await placesOf("topic", fromBlock);
      if (all.size === 0) continue;
      const found = await placesOf("positions", fromBlock);
      return all.isSubsetOf(found) ? "positions" : "topic";
    } catch (error) {
      if (error instanceof TooLargeError) return undefined;
      throw error;
    }
  }
  return undefined;
}
