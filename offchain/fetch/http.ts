import type { Agent } from "undici";
import { type Exchange, hostAndPort, type HttpDone, startExchange } from "./exchange.ts";
import { type Failure, failure } from "./failure.ts";
import type { Sink } from "./sink.ts";

const TOTAL_TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 5;

export type HttpRequest = { url: URL; maxBytes: number; sink: Sink; signal?: AbortSignal | undefined };

/**
 * GETs a URL into a sink, in 30 s with all its redirects: at most 5, each connected to anew through the agent's check.
 * Failures are data, never thrown.
 */
export async function fetchInto(
  agent: Agent,
  { url, maxBytes, sink, signal }: HttpRequest,
): Promise<HttpDone | Failure> {
  let exchange: Exchange | undefined;
  let isTimedOut = signal?.aborted ?? false;
  const abort = () => {
    isTimedOut = true;
    exchange?.abort(timeout());
  };
  const timeout = () => failure("timeout", `${hostAndPort(url)} took too long.`, { host: hostAndPort(url) });
  const timer = setTimeout(abort, TOTAL_TIMEOUT_MS);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    let target = url;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      if (!/^https?:$/.test(target.protocol)) {
        const message = `${target.href.slice(0, 200)} is neither http nor https.`;
        return failure("bad_redirect", message, { host: hostAndPort(target) });
      }
      if (isTimedOut) return timeout();
      exchange = startExchange(agent, { url: target, maxBytes, sink });
      const outcome = await exchange.outcome;
      if (outcome.kind !== "redirect") return outcome;
      target = outcome.url;
    }
    const message = `${url.href} redirects more than ${MAX_REDIRECTS} times.`;
    return failure("too_many_redirects", message, { host: hostAndPort(url) });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** host:port of a URL, with the port always there, as limits and exemptions name it. Empty where it isn't one. */
export function hostOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? hostAndPort(parsed) : "";
}
