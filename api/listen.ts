import { createServer, type Server, type ServerResponse } from "node:http";
import { Server as SocketServer, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { getRequestListener, RequestError } from "@hono/node-server";
import { type Connections, createConnections, MAX_CONNECTIONS_OF_CLIENT } from "./connections.ts";
import type { Api } from "./server.ts";

/** Most bytes of URL and headers together. A URL alone may have 32 KiB. */
export const MAX_HEADER_BYTES = 49_152;
/**
 * How long headers and whole requests may take to arrive, and how long a connection may be silent before it is closed.
 */
export const HEADERS_TIMEOUT_MS = 10_000;
export const REQUEST_TIMEOUT_MS = 20_000;
const SOCKET_TIMEOUT_MS = 30_000;
/** How long a client may take to read a complete answer, which stays in memory until then. */
const ANSWER_TIMEOUT_MS = 60_000;
/** Longer than the idle time of usual proxies, so that they close first. */
const KEEP_ALIVE_MS = 65_000;
const CHECK_INTERVAL_MS = 2000;
/** How long requests under way may take once the process is told to end. */
const DRAIN_MS = 10_000;
/** How long connections are still taken then, where one follows the other. A busy machine takes seconds for some dozens. */
const ACCEPT_MS = 5000;
/** How long a connection may take then to say something. */
const SILENT_MS = 1000;
/**
 * How long connections without a request are kept then. Where one is on its way, its answer says that it was the last;
 * of 30 clients that sent one after the other, 10 read a reset when all were closed at once.
 */
const IDLE_MS = 500;
const IDLE_CHECK_MS = 100;
/** How long a refused connection stays for its client to read why. */
const LINGER_MS = 1000;

/** A server that listens. `close` lets requests under way end, and then cuts what is left. */
export type Listener = { url: string; close: () => Promise<void> };

/**
 * Serves `api` on an address. `trustedProxies` hold any number of connections.
 *
 * @throws Error of node:net, with the code EADDRINUSE where the port is taken
 */
export async function listen(
  api: Pick<Api, "app" | "drain">,
  {
    host,
    port,
    trustedProxies = [],
    answerTimeoutMs = ANSWER_TIMEOUT_MS,
  }: { host: string; port: number; trustedProxies?: string[]; answerTimeoutMs?: number },
): Promise<Listener> {
  const handle = getRequestListener(api.app.fetch, { errorHandler: refuseUrl, hostname: "localhost" });
  const connections = createConnections({ trustedProxies });
  /** What requests wait for, where the process was told to end and still accepts connections. */
  let held: Promise<void> | undefined;
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      // HTTP/1.0 needs no Host header, and Node would refuse without a body.
      requireHostHeader: false,
    },
    (incoming, outgoing) => {
      if (!connections.begin(outgoing)) return;
      if (connections.isSurplus(incoming.socket)) refuse(outgoing, 429, TOO_MANY_CONNECTIONS, { "retry-after": "1" });
      else if (incoming.headers.host === undefined && incoming.httpVersion !== "1.0") refuse(outgoing, 400, NO_HOST);
      else if (hasSeveralHosts(incoming.rawHeaders)) refuse(outgoing, 400, SEVERAL_HOSTS);
      else {
        if (incoming.method === "OPTIONS" && incoming.url === "*") incoming.url = PATH_OF_ALL;
        if (held) void held.then(() => handle(incoming, outgoing));
        else void handle(incoming, outgoing);
      }
    },
  );
  // Who ends their side once they have asked, as `nc -N` does, still read. Node would end ours, without the answer. Its
  // types lack the property.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.setTimeout(SOCKET_TIMEOUT_MS);
  server.on("connection", connections.add);
  const refused = new WeakSet<Socket>();
  server.on("clientError", (error, socket: Socket) => {
    // Whatever comes behind it is malformed, too, until the connection ends.
    if (refused.has(socket)) return;
    refused.add(socket);
    // Answers come in the order of the requests. Source: RFC 9112, section 9.3.2
    connections.afterAnswers(socket, () => refuseMalformed(error, socket));
  });
  server.on("checkExpectation", (_, outgoing) => refuse(outgoing, 417, "Expected 100-continue in the header expect."));
  // Node hands over the socket of a CONNECT: it no longer has listeners or time-outs.
  server.on("connect", (_, socket: Socket) => {
    socket.on("error", () => {});
    refuseRaw(socket, "405 Method Not Allowed", "This is no proxy.");
  });
  const unread = setInterval(() => connections.cutUnread(answerTimeoutMs), answerTimeoutMs / 4).unref();

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address = server.address();
  const shownHost = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${shownHost}:${typeof address === "object" && address ? address.port : port}`,
    close: async () => {
      api.drain();
      held = acceptQueued(connections);
      await closeServer(server, { connections, held });
      clearInterval(unread);
    },
  };
}

/** Accepts no new connections, lets requests under way end, and cuts the connections that are left. */
async function closeServer(
  server: Server,
  { connections, held }: { connections: Connections; held: Promise<void> },
): Promise<void> {
  const cut = setTimeout(connections.cutAll, DRAIN_MS);
  // We are the first to wait for it: nobody is answered before we have stopped listening.
  await held;
  // Not the server's own, which closes idle connections too.
  const closed = new Promise<void>((resolve) => SocketServer.prototype.close.call(server, () => resolve()));
  const idleUntil = performance.now() + IDLE_MS;
  const idle = setInterval(() => {
    if (performance.now() >= idleUntil) server.closeIdleConnections();
  }, IDLE_CHECK_MS);
  const silent = setTimeout(connections.cutSilent, SILENT_MS);
  await closed;
  clearInterval(idle);
  clearTimeout(silent);
  clearTimeout(cut);
}

/**
 * Accepts what the kernel has let in already: it resets those connections when we stop listening, and their requests
 * may be on the way. Node accepts one in each turn of its loop, and more wait the busier it is. So requests wait
 * meanwhile: those that were handled in the last turn took milliseconds, in which the kernel let others in. Of 12
 * clients with a connection for each request, 11 were reset at once.
 */
async function acceptQueued({ accepted }: Connections): Promise<void> {
  const until = performance.now() + ACCEPT_MS;
  for (let before = -1; before !== accepted() && performance.now() < until;) {
    before = accepted();
    // The first may end within the turn that goes on already.
    await turn();
    await turn();
  }
}

/**
 * Answers `OPTIONS *`, which asks whether the server as a whole is there, as Apache's health checks do. Source: RFC 9110,
 * section 9.3.7
 */
const PATH_OF_ALL = "/health";

const TOO_MANY_CONNECTIONS = `Too many connections from this address. Expected at most ${MAX_CONNECTIONS_OF_CLIENT}.`;
const NO_HOST = "The Host header is missing.";
const SEVERAL_HOSTS = "The Host header is given several times. Expected once.";
const bodyOf = (message: string) => JSON.stringify({ type: "invalid_request", message });

/**
 * Whether a request has more than one Host header, of which Node takes the first and a proxy may take another. Source:
 * RFC 9112, section 3.2
 */
function hasSeveralHosts(rawHeaders: string[]): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count > 1;
}

/** Refuses a request before it is looked at, and ends its connection. */
function refuse(outgoing: ServerResponse, status: number, message: string, more: Record<string, string> = {}): void {
  const body = bodyOf(message);
  const headers = {
    ...more,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    connection: "close",
  };
  outgoing.writeHead(status, headers).end(body);
}

/** Refuses a request whose URL can't be parsed: with a Host header like "[", or a path like "*". */
function refuseUrl(error: unknown): Response {
  const isTheirs = error instanceof RequestError;
  const body = isTheirs
    ? { type: "invalid_request", message: "The Host header or the path is malformed." }
    : { type: "api_error", message: "Something went wrong on our side." };
  return new Response(JSON.stringify(body), {
    status: isTheirs ? 400 : 500,
    headers: { "content-type": "application/json", connection: "close" },
  });
}

/** Answers bytes that Node's parser refuses, which never become a request, in the usual shape of errors. */
function refuseMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET") return void socket.destroy();
  // It ends with an answer that was the last one of the connection.
  if (!socket.writable) return;
  const [status, message] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? [
          "431 Request Header Fields Too Large",
          `The headers are too large. Expected at most ${MAX_HEADER_BYTES} bytes.`,
        ]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? ["408 Request Timeout", "The request took too long to arrive."]
        : error.code === "HPE_INVALID_METHOD"
          ? ["400 Bad Request", "The request is not HTTP/1.1, or its method is none that is known."]
          : ["400 Bad Request", "The request is not HTTP/1.1."];
  refuseRaw(socket, status, message);
}

/**
 * Refuses without a request, and closes the connection soon: a client that doesn't end its side would hold it, and a
 * drain. Not at once: what it still sends would have the kernel reset the connection before the answer is read.
 */
function refuseRaw(socket: Socket, status: string, message: string): void {
  const body = bodyOf(message);
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(linger));
}
