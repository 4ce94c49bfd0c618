import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { fetchHeaders } from "./block-header.ts";
import type { RpcNode, RpcPool } from "../rpc/rpc-pool.ts";

/** A node that doesn't answer in time has no vote. */
const VOTE_TIMEOUT_MS = 5_000;

/**
 * Asks all nodes for a block about which they disagree. Nodes outside the majority are from then on asked only where
 * there is no other. Returns the hash of the majority, if there is one.
 */
export async function voteOnBlock(
  pool: RpcPool,
  { number, onProblem }: { number: number; onProblem: (line: string) => void },
): Promise<Hex | undefined> {
  const votes: { node: RpcNode; hash: Hex }[] = [];
  const asked = pool.nodes.map(async (node) => {
    const [header] = await fetchHeaders(pool, [number], { order: number, only: node });
    votes.push({ node, hash: header!.hash });
  });
  await Promise.race([Promise.allSettled(asked), sleep(VOTE_TIMEOUT_MS, undefined, { ref: false })]);

  const byHash = Map.groupBy(votes, ({ hash }) => hash);
  const [most] = [...byHash].toSorted(([, a], [, b]) => b.length - a.length);
  if (!most || most[1].length * 2 <= votes.length) return undefined;
  for (const { node, hash } of votes) {
    if (hash === most[0] || node.isUntrusted) continue;
    node.isUntrusted = true;
    onProblem(
      `${node.host}: It has another block ${number} than the other nodes. It is asked only where there is no other.`,
    );
  }
  return most[0];
}
