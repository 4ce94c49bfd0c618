import type { PublicClient } from "viem";
import { shortMessage } from "./rpc.ts";

const POLL_MS = 2_000;

/** What the chain's nodes last said of its head. */
export type Head = { block: number; timestamp: number; answeredAt: number; error: string | undefined };

/** Asks for the head every two seconds until `signal`. The answer is read from what is returned. */
export function followHead(client: PublicClient, { signal }: { signal: AbortSignal }): Readonly<Head> {
  const head: Head = { block: 0, timestamp: 0, answeredAt: Date.now(), error: undefined };
  const poll = async () => {
    try {
      const { number, timestamp } = await client.getBlock({ blockTag: "latest" });
      Object.assign(head, {
        block: Number(number),
        timestamp: Number(timestamp),
        answeredAt: Date.now(),
        error: undefined,
      });
    } catch (error) {
      head.error = shortMessage(error);
    }
    if (!signal.aborted) setTimeout(() => void poll(), POLL_MS).unref();
  };
  void poll();
  return head;
}
