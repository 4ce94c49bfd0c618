import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A web server that runs, and what it was asked. */
export type Origin = {
  url: string;
  /** host:port, as FETCH_ALLOW_HOSTS names it. */
  host: string;
  /** Requests so far, by path. */
  requests: string[];
  /** Connections so far, also those without a request. */
  connections: () => number;
  close: () => Promise<void>;
  [Symbol.asyncDispose]: () => Promise<void>;
};

/** A web server on the loopback address that answers as told. */
export async function serveOrigin(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Origin> {
  const requests: string[] = [];
  let connections = 0;
  // Kept connections stay open: one that a busy process closes late may be closed as a request comes.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    requests.push(request.url ?? "");
    answer(request, response);
  });
  server.on("connection", () => void connections++);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://${host}`,
    host,
    requests,
    connections: () => connections,
    close,
    [Symbol.asyncDispose]: close,
  };
}
