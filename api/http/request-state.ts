import { randomUUID } from "node:crypto";
import type { Caller } from "../key/key.ts";

/** What all layers know of a request and its answer. */
export type RequestState = {
  requestId: string;
  startedAt: number;
  clientAddress: string;
  caller: Caller | undefined;
  /** The path as the route declares it, for logs and metrics. It has no addresses in it. */
  route: string;
  /** Headers of the answer, also if it is an error. */
  headers: Record<string, string>;
  status: number;
  bytes: number;
};

/** What Hono's contexts carry: the request's state, and Node's request and answer where there is a socket. */
export type Env = {
  Variables: { state: RequestState };
  Bindings: {
    incoming?: { url?: string; socket: { remoteAddress?: string } };
    outgoing?: { once: (event: "close", listener: () => void) => void; destroy: () => void };
  };
};

export const createRequestState = ({ clientAddress }: { clientAddress: string }): RequestState => ({
  requestId: randomUUID(),
  startedAt: performance.now(),
  clientAddress,
  caller: undefined,
  route: "",
  headers: {},
  status: 0,
  bytes: 0,
});
