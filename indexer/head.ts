import type { PublicClient } from "viem";
import { shortMessage } from "./rpc/viem-error.ts";

/** Nothing needs it sooner. */
const LEAST_POLL_MS = 2_000;

/** The chain's head, as nodes last told it. */
export type Head = {
  /** False until a node has answered. */
  isKnown: boolean;
  block: number;
  timestamp: number;
  /** How often a block that was the head is no longer on the chain. */
  reorgs: number;
  answeredAt: number;
  error: string | undefined;
};

/** Asks for the head every two seconds, or as seldom as Ponder, until `signal`. The answer is read from what is returned. */
export function followHead(
  client: PublicClient,
  { pollIntervalMs, signal }: { pollIntervalMs: number; signal: AbortSignal },
): Readonly<Head> {
  const head: Head = {
    isKnown: false,
    block: 0,
    timestamp: 0,
    reorgs: 0,
    answeredAt: performance.now(),
    error: undefined,
  };
  let seen: { number: bigint; hash: string } | undefined;

  /** A head that is lower than the last one says nothing: nodes lag behind each other. */
  const noticeReorg = async ({ number, hash, parentHash }: { number: bigint; hash: string; parentHash: string }) => {
    if (seen && number < seen.number) return;
    if (seen && parentHash !== seen.hash && hash !== seen.hash) {
      const same = number === seen.number ? hash : (await client.getBlock({ blockNumber: seen.number })).hash;
      if (same !== seen.hash) head.reorgs += 1;
    }
    seen = { number, hash };
  };

  const poll = async () => {
    try {
      const block = await client.getBlock({ blockTag: "latest" });
      const { number, timestamp } = block;
      Object.assign(head, {
        isKnown: true,
        block: Number(number),
        timestamp: Number(timestamp),
        answeredAt: performance.now(),
        error: undefined,
      });
      await noticeReorg(block);
    } catch (error) {
      head.error = shortMessage(error);
    }
    if (!signal.aborted) setTimeout(() => void poll(), Math.max(LEAST_POLL_MS, pollIntervalMs)).unref();
  };
  void poll();
  return head;
}
