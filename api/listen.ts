import { createServer, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { getRequestListener, RequestError } from "@hono/node-server";
import { clientNetwork, createIsProxy, withoutMapping } from "./http/client-address.ts";
import type { Api } from "./server.ts";

/** Most bytes of URL and headers together. A URL alone may have 32 KiB. */
const MAX_HEADER_BYTES = 49_152;
/**
 * How long headers and whole requests may take to arrive, and how long a connection may be silent before it is closed.
 */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 20_000;
const SOCKET_TIMEOUT_MS = 30_000;
/** How long a client may take to read a complete answer, which stays in memory until then. */
const ANSWER_TIMEOUT_MS = 60_000;
/**
 * Most requests of one connection that may wait for answers. Clients that pipeline send only a few at once. Without
 * this limit, all requests that fit into 64 kB would start before the next byte can be refused.
 */
const MAX_PIPELINED = 100;
/**
 * Connections that one client may hold. Each keeps its answer in memory until the client has read it, however slowly.
 */
const MAX_CONNECTIONS_OF_CLIENT = 500;
/** Longer than the idle time of usual proxies, so that they close first. */
const KEEP_ALIVE_MS = 65_000;
const CHECK_INTERVAL_MS = 2000;
/** How long requests under way may take once the process is told to end. */
const DRAIN_MS = 10_000;
/** How long connections are still taken then, where one follows the other, and how long one may take to say something. */
const ACCEPT_MS = 1000;
const IDLE_CHECK_MS = 100;

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
  /**
   * The answers under way, by connection. A client that pipelines has several at once, of which one has the socket.
   * They aren't in one common set, because a set is rebuilt every few dozen requests, and the garbage collector then
   * takes its entries for long-lived: requests for single tokens left twice as much garbage to the collector's slow
   * part.
   */
  const connections = new Map<Socket, ServerResponse[]>();
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
      const { socket } = incoming;
      const answers = connections.get(socket);
      // Requests that Node read before the connection was cut still arrive here.
      if (!answers || answers.length >= MAX_PIPELINED || socket.destroyed) return void socket.destroy();
      answers.push(outgoing);
      outgoing.once("close", () => void answers.splice(answers.indexOf(outgoing), 1));
      if (incoming.headers.host === undefined && incoming.httpVersion !== "1.0") refuse(outgoing, 400, NO_HOST);
      else void handle(incoming, outgoing);
    },
  );
  server.setTimeout(SOCKET_TIMEOUT_MS);
  server.on("clientError", refuseMalformed);
  server.on("checkExpectation", (_, outgoing) => refuse(outgoing, 417, "Expected 100-continue in the header expect."));
  // Node hands over the socket of a CONNECT: it no longer has listeners or time-outs.
  server.on("connect", (_, socket: Socket) => {
    socket.on("error", () => {});
    refuseRaw(socket, "405 Method Not Allowed", "This is no proxy.");
    socket.destroySoon();
  });
  const isProxy = createIsProxy({ trustedProxies });
  const held = new Map<string, number>();
  let accepted = 0;
  server.on("connection", (socket) => {
    accepted += 1;
    connections.set(socket, []);
    socket.once("close", () => connections.delete(socket));
    const address = socket.remoteAddress ?? "";
    if (isProxy(address)) return;
    const client = clientNetwork(withoutMapping(address));
    const others = held.get(client) ?? 0;
    if (others >= MAX_CONNECTIONS_OF_CLIENT) return void socket.destroy();
    held.set(client, others + 1);
    socket.once("close", () => {
      const left = (held.get(client) ?? 1) - 1;
      if (left === 0) held.delete(client);
      else held.set(client, left);
    });
  });
  const unreadSince = new WeakMap<ServerResponse, number>();
  const unread = setInterval(() => {
    const now = performance.now();
    for (const answer of [...connections.values()].flat()) {
      if (!answer.socket || !answer.writableEnded || answer.writableFinished) continue;
      const since = unreadSince.get(answer) ?? now;
      unreadSince.set(answer, since);
      if (now - since >= answerTimeoutMs) answer.socket.destroy();
    }
  }, answerTimeoutMs / 4).unref();

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
    close,
  };

  /** Accepts no new connections, lets requests under way end, and cuts the connections that are left. */
  async function close(): Promise<void> {
    api.drain();
    const cut = setTimeout(() => {
      for (const socket of connections.keys()) socket.destroy();
    }, DRAIN_MS);
    await acceptQueued();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    // Node doesn't count a connection that never sent a request as idle.
    const silent = setTimeout(() => {
      for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
    }, ACCEPT_MS);
    await closed;
    clearInterval(idle);
    clearInterval(unread);
    clearTimeout(silent);
    clearTimeout(cut);
  }

  /**
   * Accepts what the kernel has let in already: it resets those connections when we stop listening, and their requests
   * may be on the way. Node accepts one in each turn of its loop, and more wait the busier it is.
   */
  async function acceptQueued(): Promise<void> {
    const until = performance.now() + ACCEPT_MS;
    for (let before = -1; before !== accepted && performance.now() < until;) {
      before = accepted;
      // The first may end within the turn that goes on already.
      await turn();
      await turn();
    }
  }
}

const NO_HOST = "The Host header is missing.";
const bodyOf = (message: string) => JSON.stringify({ type: "invalid_request", message });

/** Refuses a request that Node can read, but that isn't valid HTTP/1.1. */
function refuse(outgoing: ServerResponse, status: number, message: string): void {
  const body = bodyOf(message);
  const headers = {
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
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
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

function refuseRaw(socket: Socket, status: string, message: string): void {
  const body = bodyOf(message);
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
