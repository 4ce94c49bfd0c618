import type { HistoryProgress } from "../history/load/progress.ts";
import type { Deployment } from "./deployment.ts";
import type { Head } from "./head.ts";
import type { Position } from "./ponder/ponder-position.ts";

/** If no node answers for so long, the network is stalled. */
const HEAD_PATIENCE_MS = 10_000;

/** If the head moves on for so long and the index doesn't, it is stalled too. */
const PROGRESS_PATIENCE_MS = 60_000;

/** If it is stalled for so long while nobody complains, the process that indexes hangs. */
const HANG_PATIENCE_MS = 300_000;

/**
 * So many blocks below the head for so long, Ponder is started again: at the head it takes one block after the other, a
 * hundred or so a second, and after its start the blocks that are final by ranges. When it comes to the head it is no more
 * than some hundreds behind, on Arbitrum twice its 240 that aren't final and what came in half a minute.
 */
const FAR_BEHIND_BLOCKS = 1_000;
const FAR_BEHIND_PATIENCE_MS = 30_000;

/** What the system says of a full disk, and Postgres after it. Another try doesn't help, nor patience. */
const FULL_DISK = /No space left on device|Disk quota exceeded/i;

/** What Ponder says at its start of a head that is below what was final. */
const REFUSED_HEAD = /Finalized block .* cannot move backwards/;
const SET_BACK_ADVICE =
  "Expected a node that catches up or, where the chain was set back for good, npm run rebuild -- --refetch";

/** A speed is measured over at least so long. */
const PACE_MS = 3_000;

/** From the end of history until readers get its tables: Ponder takes them over and adds the blocks above. */
const HANDOVER_SECONDS = 2;

/** A deployment, how far it is, and whether Ponder runs on it. */
type Followed = {
  deployment: Pick<Deployment, "schema_name" | "fingerprint" | "history_block" | "published_at">;
  position: Position | undefined;
  isRunning: boolean;
};

/** `newest` is being built or followed, `visible` is what readers see: mostly the same. */
type Sight = {
  /** By a monotonic clock, in milliseconds. */
  now: number;
  head: Readonly<Head>;
  newest: Followed;
  visible: Followed;
  /** Of the newest, while it is loaded. */
  history: HistoryProgress | undefined;
  /** Why the newest isn't running now, if it isn't. */
  failure: string | undefined;
  /** What the newest complains of while it goes on. */
  problem: string | undefined;
};

type Progress = {
  /** Readers see all blocks, by tables of this version. */
  isComplete: boolean;
  /** Of the blocks that are to be indexed, from 0 to 1. */
  progress: number;
  /** Null where nothing is left, or it can't be told. */
  etaSeconds: number | null;
  /** Why it stalls, if it does. */
  reason: string | undefined;
  /** The newest follows the head no more and doesn't say why: only another process helps. */
  isHung: boolean;
  /** The newest follows the head, and comes to it much sooner by another process: a node stood still, or has synced. */
  isFarBehind: boolean;
  /** The last block that the newest has. */
  reached: number;
};

/** Makes the function that judges, from one look to the next, how far a network is, how fast, and whether it stalls. */
export function createProgressWatch({
  startBlock,
  endBlock = Infinity,
  fingerprint,
}: {
  startBlock: number;
  endBlock: number | undefined;
  fingerprint: string;
}): (sight: Sight) => Progress {
  let advance = { block: -1, at: 0 };
  let furthest = { schemaName: "", block: -1, at: 0 };
  /** Why it last ended, since it came this far. */
  let lastFailure: string | undefined;
  let hasCaughtUp = false;
  let wasRunning = false;
  let beganAt: number | undefined;
  let pace: { block: number; at: number } | undefined;
  let farBehindSince: number | undefined;
  let belowFinalSince: number | undefined;

  return ({ now, head, newest, visible, history, failure, problem }) => {
    const indexedBlock = visible.position?.indexedBlock ?? 0;
    if (indexedBlock !== advance.block || indexedBlock >= head.block) advance = { block: indexedBlock, at: now };

    const { schema_name: schemaName, history_block } = newest.deployment;
    const reached = newest.position?.indexedBlock ?? history?.block ?? 0;
    if (schemaName !== furthest.schemaName || reached > furthest.block) {
      furthest = { schemaName, block: reached, at: now };
      lastFailure = undefined;
    }
    lastFailure = failure ?? lastFailure;

    const target = Math.min(head.block, endBlock);
    // Ponder says it is ready when the final blocks are in; the others follow within seconds. If it was started after the
    // position was read, it was the Ponder before it that said so.
    if (!visible.isRunning || !wasRunning || !visible.position?.isReady) hasCaughtUp = false;
    else if (head.isKnown && indexedBlock >= target) hasCaughtUp = true;
    wasRunning = visible.isRunning;
    const { published_at, fingerprint: version } = visible.deployment;
    const isComplete = published_at !== null && version === fingerprint && hasCaughtUp;

    const loaded = history && startBlock + history.progress * (history_block! - startBlock);
    const built = (newest.position?.indexedBlock ?? loaded ?? startBlock) - startBlock;
    const share = built / Math.max(1, target - startBlock);
    // Measured anew after a restart, which goes through the blocks since the last final one faster than through new ones.
    if (!newest.isRunning) pace = beganAt = undefined;
    else beganAt ??= now;
    pace ??= newest.position && { block: newest.position.indexedBlock, at: now };

    const isAnswering = head.isKnown && !head.error;
    const finalBlock = visible.position?.finalizedBlock ?? 0;
    if (!isAnswering || head.block >= finalBlock) belowFinalSince = undefined;
    else belowFinalSince ??= now;
    const isBehind = newest.position?.isReady === true && reached < target;
    if (!isBehind || !newest.isRunning || target - reached < FAR_BEHIND_BLOCKS) farBehindSince = undefined;
    else farBehindSince ??= now;
    const isFarBehind = isAnswering && !problem && now - (farBehindSince ?? now) > FAR_BEHIND_PATIENCE_MS;
    // Said once: it takes some seconds until it has ended.
    if (isFarBehind) farBehindSince = undefined;
    const quietSince = Math.max(furthest.at, beganAt ?? now);

    const reason = stallReason();
    return {
      isComplete,
      progress: isComplete ? 1 : Math.min(0.999, Math.max(0, share)),
      etaSeconds: isComplete || reason ? null : secondsLeft(),
      reason,
      isHung: isAnswering && isBehind && !problem && now - quietSince > HANG_PATIENCE_MS,
      isFarBehind,
      reached,
    };

    function secondsLeft(): number | null {
      if (history) return history.etaSeconds === null ? null : Math.round(history.etaSeconds + HANDOVER_SECONDS);
      if (!pace || now - pace.at <= PACE_MS) return null;
      const speed = ((newest.position?.indexedBlock ?? 0) - pace.block) / ((now - pace.at) / 1000);
      return speed > 0 ? Math.round((target - startBlock - built) / speed) : null;
    }

    function stallReason(): string | undefined {
      // First: complaints are about blocks that aren't there yet.
      if (head.isKnown && head.block < startBlock)
        return `The chain is at block ${head.block}, and its index starts at block ${startBlock}`;
      // A node that lags is soon over it. Ponder only says at its start what is wrong.
      const isRefused = failure !== undefined && REFUSED_HEAD.test(failure);
      if (belowFinalSince !== undefined && (isRefused || now - belowFinalSince > PROGRESS_PATIENCE_MS))
        return `The chain is at block ${head.block}, and block ${finalBlock} was final. ${SET_BACK_ADVICE}`;
      if (failure) return failure;
      if (head.error && now - head.answeredAt > HEAD_PATIENCE_MS) return `RPC doesn't answer: ${head.error}`;
      // It runs, but fails each time before it comes any further. Or nodes don't give the blocks that it asks for, or give
      // them wrong.
      const words = lastFailure ?? problem;
      const patience = words && FULL_DISK.test(words) ? 0 : PROGRESS_PATIENCE_MS;
      if (words && !isComplete && now - furthest.at > patience) return words;
      if (isComplete && indexedBlock < target && now - advance.at > PROGRESS_PATIENCE_MS)
        return `No block indexed for ${Math.round((now - advance.at) / 1000)} s`;
      return undefined;
    }
  };
}
