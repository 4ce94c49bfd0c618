import { type GetOptions, type HttpDone, type Redirect, startGet } from "./http-get.ts";
import { CANCELLED, CROWDED, type Failure, failure, type Postponed } from "./failure.ts";
import type { GuardedAgents } from "./guarded-agent.ts";
import { hostAndPort } from "./host.ts";
import type { HostLimits } from "./host-limits.ts";
import type { IsInTrouble } from "./host-record.ts";
import type { Slot } from "./large-body-slots.ts";
import type { Place } from "./places.ts";
import type { DisposableSink } from "./sink.ts";

const TOTAL_TIMEOUT_MS = 30_000;
/** With less time left no further host is asked: it could hardly answer, and would be blamed for that. */
const MIN_TIMEOUT_MS = 15_000;
const MAX_REDIRECTS = 5;
/** The name of a content: a CID in base32 or base36, or an Arweave transaction. */
const HASH_LABEL = /^[a-z\d]{46,63}\./;
/** The longest host name. Source: RFC 1035, 2.3.4. */
const MAX_HOSTNAME_LENGTH = 253;

type HttpRequest<S> = {
  url: URL;
  maxBytes: number;
  /** Called for each host that is asked. */
  createSink: (host: string) => S;
  /** For whom it is: see `HostLimits`. */
  tenant: string;
  /** Cancels the request. A `cancelled` outcome says nothing about the host. */
  signal?: AbortSignal | undefined;
  /** Judges failures of the first host. Those of others, after redirects, are judged by the default. */
  isInTrouble?: IsInTrouble | undefined;
};

/**
 * GETs a URL into a sink, within 30 s including at most 5 redirects. Each redirect goes through the agent's check and
 * the limits of its own host. A host that redirects has answered, whatever happens behind that. Failures are data and
 * never thrown. `sink`: that of the last host.
 */
export async function fetchInto<S extends DisposableSink>(
  { agents, limits, enterDecoder }: { agents: GuardedAgents; limits: HostLimits; enterDecoder: (host: string) => Slot },
  { url, maxBytes, createSink, tenant, signal, isInTrouble }: HttpRequest<S>,
): Promise<{ result: HttpDone | Failure | Postponed; sink: S }> {
  const host = hostAndPort(url);
  let sink = createSink(host);
  let target = url;
  let leftMs = TOTAL_TIMEOUT_MS;
  let hops = 0;

  /** Asks the target, and within the same request the names below its own that it sends contents to. */
  async function ask(place: Place): Promise<HttpDone | Redirect | Failure> {
    const asked = target;
    for (;;) {
      const start = performance.now();
      const request = { url: target, maxBytes, sink, enterDecoder, signal, timeoutMs: leftMs, place };
      const outcome = await get(agents, request);
      leftMs -= performance.now() - start;
      // Each content would else be a failure of another host, for whoever reads the status.
      if (outcome.kind === "failure" && target !== asked) return { ...outcome, host: hostAndPort(asked) };
      if (outcome.kind !== "redirect" || !isBelow(outcome.url, asked) || hops === MAX_REDIRECTS) return outcome;
      hops++;
      follow(outcome.url);
    }
  }
  function follow(to: URL): void {
    sink.dispose?.();
    target = to;
    sink = createSink(hostAndPort(target));
  }

  for (; hops <= MAX_REDIRECTS; hops++) {
    if (target.hostname.length > MAX_HOSTNAME_LENGTH) {
      const message = `A host name of ${target.hostname.length} characters.`;
      return { result: failure("bad_uri", message), sink };
    }
    const asked = hostAndPort(target);
    const result = await limits.run<HttpDone | Redirect>(asked, ask, {
      tenant,
      isInTrouble: asked === host ? isInTrouble : undefined,
    });
    if (result.kind !== "redirect") return { result, sink };
    follow(result.url);
    if (!/^https?:$/.test(target.protocol)) {
      const message = `${asked} redirects to ${target.href.slice(0, 200)}, which is neither http nor https.`;
      return { result: failure("bad_redirect", message, { host: asked }), sink };
    }
    if (leftMs < MIN_TIMEOUT_MS) return { result: failure("timeout", `${host} took too long.`, { host }), sink };
  }
  const message = `${host} redirects more than ${MAX_REDIRECTS} times.`;
  return { result: failure("too_many_redirects", message, { host }), sink };
}

/**
 * Whether a URL is at a name below a host's own that is a content's hash, as gateways have one for each: so none can
 * read what a page of another one keeps in a browser. They are one host, with one limit for all.
 */
function isBelow(url: URL, { hostname }: URL): boolean {
  return HASH_LABEL.test(url.hostname) && url.hostname.endsWith(`.${hostname}`) && /^https?:$/.test(url.protocol);
}

async function get(
  agents: GuardedAgents,
  {
    signal,
    timeoutMs,
    place,
    ...request
  }: GetOptions & { signal: AbortSignal | undefined; timeoutMs: number; place: Place },
): Promise<HttpDone | Redirect | Failure> {
  const host = hostAndPort(request.url);
  const cancelled = failure(CANCELLED, `${host} is not needed any more.`, { host });
  if (signal?.aborted) return cancelled;
  const { outcome, abort, isHeldBack } = startGet(agents, request);
  const cancel = () => abort(cancelled);
  const putBack = () => abort(failure(CROWDED, `What ${host} sends waited too long for room here.`, { host }));
  const runOut = () => {
    if (isHeldBack()) putBack();
    else abort(failure("timeout", `${host} took too long.`, { host }));
  };
  place.putBack = putBack;
  const timer = setTimeout(runOut, timeoutMs);
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await outcome;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  }
}
