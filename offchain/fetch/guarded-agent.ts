// Node takes a lookup as a function with a callback.
/* oxlint-disable promise/no-callback-in-promise */
import { Resolver } from "node:dns/promises";
import type { LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { Agent, buildConnector } from "undici";
import { isPublicAddress } from "./public-address.ts";

const CONNECT_TIMEOUT_MS = 5000;
const FIRST_BYTE_TIMEOUT_MS = 15_000;
/**
 * Limits for looking up a name. It is done without the thread pool, where a lookup that hangs would hold up file
 * access.
 */
const DNS_TIMEOUT_MS = 2000;
const DNS_TRIES = 2;
/** Idle sockets are closed after so long, whatever keep-alive the server names. */
const KEEP_ALIVE_MS = 10_000;
/** The largest headers of an answer. Node takes 16 kB, browsers more: some hosts name all files of a site in them. */
const MAX_HEADER_BYTES = 65_536;
/** Sockets to one origin: more than the requests that its host's limits allow. */
const MAX_CONNECTIONS = 32;
/**
 * HTTP/1.1 for all, which every host has. In HTTP/2 a body that its server gives up in the middle ends for Node like a
 * whole one, and would be kept as one.
 */
const HTTP = { allowH2: false };

/** Thrown where the target isn't on the public internet. */
class PrivateAddressError extends Error {
  readonly code = "PRIVATE_ADDRESS";
}

/** `kept` uses connections again; `fresh` makes one for each request. */
export type GuardedAgents = { kept: Agent; fresh: Agent };

/** Returns all addresses of a name. */
export type Resolve = (hostname: string) => Promise<string[]>;

/**
 * Agents that connect only to public addresses. They check the addresses to which they then connect, so a name that
 * changes in between doesn't matter, and check the socket once more. `allowHosts`: `host:port` pairs that are exempt,
 * `localhost` with the names below it.
 */
export function createGuardedAgents({
  allowHosts,
  resolve = createResolve(),
  firstByteTimeoutMs = FIRST_BYTE_TIMEOUT_MS,
}: {
  allowHosts: string[];
  resolve?: Resolve | undefined;
  firstByteTimeoutMs?: number | undefined;
}): GuardedAgents {
  const exempt = new Set(allowHosts);
  const connectFreely = buildConnector({ ...HTTP, timeout: CONNECT_TIMEOUT_MS });
  const connectGuarded = buildConnector({
    ...HTTP,
    timeout: CONNECT_TIMEOUT_MS,
    lookup: createLookup(resolve),
  });

  const common: Agent.Options = {
    ...HTTP,
    connections: MAX_CONNECTIONS,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: firstByteTimeoutMs,
    bodyTimeout: firstByteTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: (options, callback) => {
      const hostname = options.hostname.replace(/^\[|\]$/g, "");
      const port = options.port || (options.protocol === "https:" ? "443" : "80");
      const isExempt = (name: string) => exempt.has(`${name}:${port}`.toLowerCase());
      if (isExempt(options.hostname)) return connectFreely(options, callback);
      if (isLocal(hostname) && isExempt("localhost"))
        return connectFreely({ ...options, hostname: "localhost" }, callback);
      // An IP address isn't looked up, so the check in the lookup wouldn't see it.
      if (isIP(hostname) !== 0 && !isPublicAddress(hostname)) return callback(refusalOf(hostname), null);
      connectGuarded(options, (...result) => {
        const [error, socket] = result;
        if (error || isPublicAddress(socket.remoteAddress ?? "")) return callback(...result);
        socket.destroy();
        callback(refusalOf(socket.remoteAddress ?? ""), null);
      });
    },
  };
  return { kept: new Agent(common), fresh: new Agent({ ...common, pipelining: 0 }) };
}

/**
 * Whether a name is one below `localhost`: this machine, though few name servers know it. Gateways of IPFS have one there
 * for each CID. Source: RFC 6761, 6.3.
 */
const isLocal = (hostname: string) => /\.localhost\.?$/i.test(hostname);

function createLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    void find(hostname).then((result) => {
      if (result instanceof Error) return callback(result, "");
      const [first] = result;
      if (!first) return callback(refusalOf(hostname), "");
      return options.all ? callback(null, result) : callback(null, first.address, first.family);
    });
  };

  async function find(hostname: string): Promise<LookupAddress[] | Error> {
    try {
      const addresses = await resolve(hostname);
      return addresses.filter(isPublicAddress).map((address) => ({ address, family: isIP(address) }));
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }
}

function createResolve(): Resolve {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = [v4, v6].flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    if (addresses.length === 0 && v4.status === "rejected") throw v4.reason;
    return addresses;
  };
}

function refusalOf(target: string): PrivateAddressError {
  return new PrivateAddressError(`${target} is not a public address.`);
}
