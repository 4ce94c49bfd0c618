import type { Agent } from "undici";
import { type Get, hostAndPort, type HttpDone, startGet } from "./http-get.ts";
import { CANCELLED, CROWDED, type Failure, failure } from "./failure.ts";
import type { Sink } from "./sink.ts";

const TOTAL_TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 5;

type HttpRequest = { url: URL; maxBytes: number; sink: Sink; signal?: AbortSignal | undefined };

/**
 * GETs a URL into a sink, in 30 s with all its redirects: at most 5, each connected to anew through the agent's check.
 * Failures are data, never thrown. `signal`: it is `cancelled`, which says nothing of its host.
 */
export async function fetchInto(
  agent: Agent,
  { url, maxBytes, sink, signal }: HttpRequest,
): Promise<HttpDone | Failure> {
  const host = hostAndPort(url);
  let get: Get | undefined;
  let end: Failure | undefined;
  const abort = (reason: Failure) => {
    end = reason;
    get?.abort(reason);
  };
  const cancel = () => abort(failure(CANCELLED, `${host} is not needed any more.`, { host }));
  const runOut = () => {
    if (get?.isHeldBack()) abort(failure(CROWDED, `What ${host} sends waited too long for room here.`, { host }));
    else abort(failure("timeout", `${host} took too long.`, { host }));
  };
  const timer = setTimeout(runOut, TOTAL_TIMEOUT_MS);
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    let target = url;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      if (!/^https?:$/.test(target.protocol)) {
        const message = `${target.href.slice(0, 200)} is neither http nor https.`;
        return failure("bad_redirect", message, { host: hostAndPort(target) });
      }
      if (end) return end;
      get = startGet(agent, { url: target, maxBytes, sink });
      const outcome = await get.outcome;
      if (outcome.kind !== "redirect") return outcome;
      target = outcome.url;
    }
    const message = `${url.href} redirects more than ${MAX_REDIRECTS} times.`;
    return failure("too_many_redirects", message, { host });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  }
}

/** host:port of a URL, with the port always there, as limits and exemptions name it. Empty where it isn't one. */
export function hostAndPortOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? hostAndPort(parsed) : "";
}
