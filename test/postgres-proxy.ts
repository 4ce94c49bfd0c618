import { createServer, connect, type AddressInfo, type Socket } from "node:net";

/** Where a connection is cut: on what a client sends, whose answer is lost, or which never gets there. */
type Fault = {
  /** Of the sessions whose `application_name` this fits. */
  session: RegExp;
  /** A statement as it is sent, alone. */
  statement: string;
  isHandedOver: boolean;
};

/** A Postgres behind which the real one is. */
export type PostgresProxy = {
  url: string;
  /** Cuts one connection where the fault says, the next time that it comes to it. Settles when it has. */
  loseOnce: (fault: Fault) => Promise<void>;
  stop: () => Promise<void>;
};

export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let armed: (Fault & { onLost: () => void }) | undefined;

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    let name: string | undefined;
    client.on("data", (chunk) => {
      name ??= /application_name\0([^\0]*)/.exec(chunk.toString("latin1"))?.[1] ?? "";
      if (armed?.session.test(name) && chunk.includes(simpleQuery(armed.statement))) {
        const { isHandedOver, onLost } = armed;
        armed = undefined;
        upstream.removeAllListeners("data");
        // The first byte of the answer says that it is done.
        if (isHandedOver) upstream.once("data", () => [client, upstream].forEach((socket) => socket.destroy()));
        else for (const socket of [client, upstream]) socket.destroy();
        if (isHandedOver) upstream.write(chunk);
        onLost();
      } else upstream.write(chunk);
    });
    upstream.on("data", (chunk) => client.write(chunk));
    client.on("end", () => upstream.end());
    upstream.on("end", () => client.end());
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    loseOnce: (fault) => new Promise((resolve) => (armed = { ...fault, onLost: resolve })),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** The message of Postgres' protocol that has a statement without parameters. */
function simpleQuery(statement: string): Buffer {
  const text = Buffer.from(`${statement}\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + text.length);
  return Buffer.concat([Buffer.from("Q"), length, text]);
}
