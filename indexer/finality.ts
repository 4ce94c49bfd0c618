import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import type { Chain } from "../history/chain-log.ts";
import { type Deployment, listOfChain, noteFinalized } from "./deployment.ts";
import { type Position, readPosition } from "./ponder/ponder-position.ts";
import {
  type BlockState,
  createNodeLooks,
  findAgreedHash,
  findBlock,
  type KnownBlock,
  type NodeLook,
} from "./rpc/node-look.ts";

/** How often nodes are looked at, and how long a block must be gone: nodes behind one URL may disagree for a moment. */
const CHECK_EVERY_MS = 15_000;

/** Looks come so many times as often while Ponder waits to be started, and when it has taken more blocks for final. */
const EAGERNESS = 15;

/** After so many looks at nodes that answer for the chain but not for a block, Ponder is started all the same. */
const PATIENCE_LOOKS = 5;

/** Watches whether nodes have the blocks that deployments were made of: Ponder believes whatever it finds at its start. */
export type FinalityWatch = {
  /**
   * Whether all looks for `everyMs` found that a block which was taken for final is gone. To be called again and again:
   * it starts the looks, which go on in the background and note what is final by then. `position`: of the deployment that
   * is followed, undefined before Ponder has begun.
   */
  isGone: (position: Position | undefined) => boolean;
  /** Settles once a node answers for the chain and no block that was final is gone, or at the signal. */
  untilKept: (signal: AbortSignal) => Promise<void>;
  /** Aborted while nodes answer for another chain. Once they answer for ours again, there is a new signal. */
  signal: () => AbortSignal;
  /** Says which chain the nodes answer for, where all of them answer for another one. */
  problem: () => string | undefined;
};

/** `everyMs`: between two looks. */
export function watchFinality(
  sql: Sql,
  { rpcUrls, chain, everyMs = CHECK_EVERY_MS }: { rpcUrls: string[]; chain: Chain; everyMs?: number },
): FinalityWatch {
  const beginLook = createNodeLooks(rpcUrls, chain);
  let looked = { at: -Infinity, finalizedBlock: undefined as number | undefined };
  /** From the first to the last look of those that found a block gone since one didn't. */
  let gone: { since: number; until: number } | undefined;
  let problem: string | undefined;
  let leaving = new AbortController();

  const noteProblem = (found: string | undefined) => {
    if (found !== undefined) leaving.abort();
    else if (leaving.signal.aborted) leaving = new AbortController();
    problem = found;
  };

  const findOut = async (look: NodeLook, finals: Finals[]): Promise<BlockState> => {
    const isAnswered = await look.isAnswered();
    noteProblem(isAnswered ? undefined : await look.findProblem());
    const blocks = finals.flatMap((one) => one.blocks);
    const states = await Promise.all(blocks.map((block) => findBlock(block, look)));
    const isGone = states.includes("gone") || (await isAnew(chain, look));
    const now = performance.now();
    gone = isGone ? { since: gone?.since ?? now, until: now } : undefined;
    if (isGone || !isAnswered) return isGone ? "gone" : "untold";
    return states.includes("untold") ? "untold" : "kept";
  };

  const lookAndNote = async (): Promise<void> => {
    const [look, finals] = [beginLook(), await findFinals(sql, chain)];
    if ((await findOut(look, finals)) !== "kept") return;
    for (const { deployment, blocks, unnoted } of finals) {
      const hash = unnoted && (await findAgreedHash(unnoted, { look, blocks }));
      if (hash) await noteFinalized(sql, deployment, { number: unnoted, hash });
    }
  };

  return {
    isGone: (position) => {
      // While it catches up, more is final all the time.
      const finalizedBlock = position?.isReady ? position.finalizedBlock : looked.finalizedBlock;
      const everySoOften = finalizedBlock === looked.finalizedBlock ? everyMs : everyMs / EAGERNESS;
      if (performance.now() - looked.at > everySoOften) {
        // One at a time.
        looked = { at: Infinity, finalizedBlock };
        void lookAndNote()
          .catch(() => {})
          .finally(() => (looked.at = performance.now()));
      }
      return gone !== undefined && gone.until - gone.since >= everyMs;
    },
    untilKept: async (signal) => {
      for (let untold = 0; !signal.aborted;) {
        const look = beginLook();
        const state = await findOut(look, await findFinals(sql, chain));
        if (state === "untold" && (await look.isAnswered())) untold++;
        if (state === "kept" || untold === PATIENCE_LOOKS) return;
        await sleep(everyMs / EAGERNESS, undefined, { signal }).catch(() => {});
      }
    },
    signal: () => leaving.signal,
    problem: () => problem,
  };
}

/** The final blocks of a deployment. `unnoted`: the block that is final by now, where it isn't noted yet. */
type Finals = { deployment: Deployment; blocks: KnownBlock[]; unnoted: number | undefined };

/** The final blocks of all deployments of a chain, because what was fetched for one is used for the next. */
async function findFinals(sql: Sql, chain: Chain): Promise<Finals[]> {
  const deployments = await listOfChain(sql, chain);
  return Promise.all(
    deployments.map(async (deployment) => {
      const { finalized_block, finalized_hash, history_block, history_hash } = deployment;
      const [number, hash] = finalized_hash ? [finalized_block, finalized_hash] : [history_block, history_hash];
      const noted = number === null || hash === null ? undefined : { number, hash };
      const position = await readPosition(sql, deployment);
      const isFurther = position !== undefined && position.finalizedBlock > (noted?.number ?? -1);
      const unnoted = isFurther ? position.finalizedBlock : undefined;
      const kept = unnoted && (await findKeptBlock(sql, { chain, from: (noted?.number ?? -1) + 1, to: unnoted }));
      return { deployment, blocks: [noted, kept].filter((block) => typeof block === "object"), unnoted };
    }),
  );
}

/** The last block in a range of which Ponder has kept anything. */
async function findKeptBlock(
  sql: Sql,
  { chain, from, to }: { chain: Chain; from: number; to: number },
): Promise<KnownBlock | undefined> {
  const [block] = await sql<KnownBlock[]>`
    select
      number::float8,
      hash
    from ponder_sync.blocks
    where chain_id = ${chain.chainId}
      and number between ${from} and ${to}
    order by number desc
    limit 1
  `;
  return block;
}

/** Whether the chain began anew: it may be too short for any block that was final to be gone. */
async function isAnew({ genesisHash: hash }: Chain, look: NodeLook): Promise<boolean> {
  return hash !== "" && (await findBlock({ number: 0, hash }, look)) === "gone";
}
