import { randomUUID } from "node:crypto";
import type { Caller } from "../key/key.ts";

/** What one request and its answer are known by on the way through the layers. */
export type RequestState = {
  requestId: string;
  startedAt: number;
  clientAddress: string;
  caller: Caller | undefined;
  /** The path as it is declared, for logs and metrics: no addresses in it. */
  route: string;
  /** Headers that its answer carries, whatever it is. */
  headers: Record<string, string>;
  status: number;
  bytes: number;
};

export type Env = {
  Variables: { state: RequestState };
  Bindings: {
    incoming?: { url?: string; socket: { remoteAddress?: string } };
    outgoing?: { once: (event: "close", listener: () => void) => void; destroy: () => void };
  };
};

export const newRequestState = ({ clientAddress }: { clientAddress: string }): RequestState => ({
  requestId: randomUUID(),
  startedAt: performance.now(),
  clientAddress,
  caller: undefined,
  route: "",
  headers: {},
  status: 0,
  bytes: 0,
});
