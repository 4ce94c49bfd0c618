import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Where a session of Ponder's is cut off: at a statement without parameters, or without one before it is open. */
type Cut = {
  statement?: string;
  /** Postgres gets what was sent, and only its answer is lost. */
  isHandedOver?: boolean;
};

/** A Postgres in front of another one, that cuts off sessions in which Ponder writes blocks when it is told to. */
type PostgresProxy = {
  url: string;
  /** Cuts off one session after the other, each as soon as it comes there. Settles when all are. */
  cutOff: (...cuts: Cut[]) => Promise<void>;
  stop: () => Promise<void>;
};

/** In the first message of a session. */
const NAME = /application_name\0onchain_\w+_user\0/;

/** Starts one on the loopback address, in front of the Postgres at a URL. */
export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let cuts: Cut[] = [];
  let onDone = () => {};

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const both = [client, upstream];
    for (const socket of both) {
      sockets.add(socket);
      socket
        .on("error", () => {})
        .on("close", () => {
          sockets.delete(socket);
          for (const one of both) one.destroy();
        });
    }
    let isPonder: boolean | undefined;
    client.on("data", (chunk) => {
      const isOpening = isPonder === undefined;
      isPonder ??= NAME.test(chunk.toString("latin1"));
      const [cut] = cuts;
      const isThere = cut?.statement === undefined ? isOpening : chunk.includes(toMessage(cut.statement));
      if (!cut || !isPonder || !isThere) return void upstream.write(chunk);
      cuts.shift();
      upstream.removeAllListeners("data");
      if (cut.isHandedOver) {
        upstream.once("data", () => client.destroy());
        upstream.write(chunk);
      } else client.destroy();
      if (cuts.length === 0) onDone();
    });
    upstream.on("data", (chunk) => client.write(chunk));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    cutOff: (...wanted) => {
      cuts = wanted;
      return new Promise((resolve) => (onDone = resolve));
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** A statement as Postgres' protocol has it. */
function toMessage(statement: string): Buffer {
  const text = Buffer.from(`Q----${statement}\0`);
  text.writeInt32BE(text.length - 1, 1);
  return text;
}
