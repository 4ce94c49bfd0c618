import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { createPublicClient, type PublicClient } from "viem";
import type { Chain } from "../history/chain-log.ts";
import type { Deployment } from "./deployment.ts";
import { hostOf, transportTo } from "./rpc.ts";

const CHECK_EVERY_MS = 15_000;

/** While Ponder waits to be started, it is looked so many times as often. */
const EAGERNESS = 5;

/** Nodes behind one URL may disagree for a moment. */
const CHECKS_THAT_AGREE = 2;

/** A block and its hash, as they were when they were taken for final. */
type FinalBlock = { number: number; hash: string };

/** A node, and where it is. */
type Node = { host: string; client: PublicClient };

/** Whether nodes are those that a chain's deployments were made of. Ponder believes whatever it finds. */
export type FinalityWatch = {
  /**
   * Looks now and then, without being waited for. Whether the last looks all found that a block which the deployment took
   * for final is gone. `finalizedBlock`: Ponder's, undefined before it has begun.
   */
  isGone: (deployment: Deployment, finalizedBlock: number | undefined) => boolean;
  /** Settles as soon as a node answers for the chain, or at the signal. */
  untilOfChain: (signal: AbortSignal) => Promise<void>;
  /** Is aborted when nodes answer for another chain, from which on it is another one. */
  signal: () => AbortSignal;
  /** Which node answers for another chain, where all do. */
  problem: () => string | undefined;
};

/** `everyMs`: between two looks. */
export function watchFinality(
  sql: Sql,
  { rpcUrls, chain, everyMs = CHECK_EVERY_MS }: { rpcUrls: string[]; chain: Chain; everyMs?: number },
): FinalityWatch {
  const nodes = rpcUrls.map((url) => ({
    host: hostOf(url),
    client: createPublicClient({ transport: transportTo(url) }),
  }));
  let checkedAt = -Infinity;
  let replacedChecks = 0;
  let problem: string | undefined;
  let leaving = new AbortController();

  const note = (found: string | undefined) => {
    if (found !== undefined) leaving.abort();
    else if (leaving.signal.aborted) leaving = new AbortController();
    problem = found;
  };

  const isFinalBlockGone = async (deployment: Deployment, finalizedBlock: number | undefined): Promise<boolean> => {
    const look = lookAt(nodes, chain);
    note(await look.findProblem());
    const kept = await findKeptBlock(sql, { deployment, finalizedBlock });
    return kept !== undefined && isReplaced(kept, look);
  };

  return {
    isGone: (deployment, finalizedBlock) => {
      if (performance.now() - checkedAt > everyMs) {
        // One at a time.
        checkedAt = Infinity;
        void isFinalBlockGone(deployment, finalizedBlock)
          .then((isGone) => (replacedChecks = isGone ? replacedChecks + 1 : 0))
          .catch(() => {})
          .finally(() => (checkedAt = performance.now()));
      }
      return replacedChecks >= CHECKS_THAT_AGREE;
    },
    untilOfChain: async (signal) => {
      for (; !signal.aborted; await sleep(everyMs / EAGERNESS, undefined, { signal }).catch(() => {})) {
        const look = lookAt(nodes, chain);
        const isAnswered = await look.isAnswered();
        note(isAnswered ? undefined : await look.findProblem());
        if (isAnswered) return;
      }
    },
    signal: () => leaving.signal,
    problem: () => problem,
  };
}

/** What nodes say in one look. */
type Look = {
  /** Whether a node answers for the chain. */
  isAnswered: () => Promise<boolean>;
  findProblem: () => Promise<string | undefined>;
  /** Of each node; undefined where it doesn't tell, or is of another chain. */
  hashesAt: (number: number) => Promise<string | undefined>[];
};

/** Nodes are asked for their chain each time: behind a URL there may be another one than before. */
function lookAt(nodes: Node[], { chainId }: Chain): Look {
  const told = nodes.map(({ client }) => client.getChainId().catch(() => undefined));
  const askForHash = async (place: number, number: number) => {
    if ((await told[place]) !== chainId) return undefined;
    const block = await nodes[place]!.client.getBlock({ blockNumber: BigInt(number) }).catch(() => undefined);
    return block?.hash;
  };
  return {
    isAnswered: () => isAny(told, (id) => id === chainId),
    findProblem: async () => {
      const ids = await Promise.all(told);
      if (ids.some((id) => id === undefined || id === chainId)) return undefined;
      return `${nodes[0]!.host} answers for chain ${ids[0]}. Expected ${chainId}`;
    },
    hashesAt: (number) => nodes.map((_, place) => askForHash(place, number)),
  };
}

/** Known as soon as it is of one: a node may be silent for long. */
function isAny<T>(promises: Promise<T>[], is: (value: T) => boolean): Promise<boolean> {
  const those = promises.map(async (promise) => is(await promise) || Promise.reject(new Error("It isn't.")));
  return Promise.any(those).catch(() => false);
}

/**
 * Whether the chain no longer has a block that was taken for final: a reorg deeper than Ponder can undo. Ponder itself
 * says the same of a node that merely lags, so the nodes are asked for that block: one that still has it is believed, and
 * where none answers nothing is known.
 */
async function isReplaced({ number, hash }: FinalBlock, look: Look): Promise<boolean> {
  const hashes = await Promise.all(look.hashesAt(number));
  const answers = hashes.filter((one) => one !== undefined);
  return answers.length > 0 && answers.every((one) => one !== hash);
}

/** The last block up to Ponder's finalized one of which Ponder has kept anything, else the last one of history. */
async function findKeptBlock(
  sql: Sql,
  { deployment, finalizedBlock }: { deployment: Deployment; finalizedBlock: number | undefined },
): Promise<FinalBlock | undefined> {
  const { chain_id, history_block, history_hash } = deployment;
  const history =
    history_block === null || history_hash === null ? undefined : { number: history_block, hash: history_hash };
  if (finalizedBlock === undefined) return history;
  const [block] = await sql<FinalBlock[]>`
    select
      number::float8,
      hash
    from ponder_sync.blocks
    where chain_id = ${chain_id}
      and number > ${history_block ?? -1}
      and number <= ${finalizedBlock}
    order by number desc
    limit 1
  `;
  return block ?? history;
}
