import { connect, type NetConnectOpts, type Socket } from "node:net";

/** The connection that the driver asks for. */
export type Wanted = { host: string[]; port: number[]; path: string | false; ssl: unknown };

/** How many bytes are read at once: more than Postgres sends in one piece. */
const READ_BYTES = 131_072;
const CHECK_INTERVAL_MS = 500;
/** A message has a letter, its length without the letter, and content. */
const LENGTH_AT = 1;
const HEAD_BYTES = 5;

/**
 * A connection for the driver. It is cut if nothing comes for `silenceMs` after a query, because a server behind a
 * network that drops packets would keep it waiting for ever.
 */
export function openSocket({ host, port, path, ssl }: Wanted, { silenceMs }: { silenceMs: number }): Socket {
  const to = path ? { path } : { host: host[0] ?? "localhost", port: port[0] ?? 5432, noDelay: true };
  const socket = ssl ? connect(to) : connectFramed(to);
  watch(socket, { server: JSON.stringify(to), silenceMs });
  // For TLS, the driver asks for the certificate of this name.
  return Object.assign(socket, { host: host[0] });
}

/**
 * A connection that reads into one buffer and passes on whole messages, which are valid until the handler returns.
 * Postgres sends pieces of 8 kB, and Node allocates 72 kB to read one: V8 counted 1.6 MB for each page of tokens, and
 * went through its whole heap every 40 pages, which took more than half of the process's time.
 */
function connectFramed(to: NetConnectOpts): Socket {
  let memory = Buffer.allocUnsafeSlow(READ_BYTES);
  /** How many bytes at the beginning of `memory` are the first part of a message. */
  let kept = 0;

  const deliver = (total: number) => {
    let end = 0;
    while (total - end >= HEAD_BYTES) {
      const next = end + LENGTH_AT + memory.readUInt32BE(end + LENGTH_AT);
      if (next > total) break;
      end = next;
    }
    if (end > 0) socket.emit("data", memory.subarray(0, end));
    kept = total - end;
    const from = memory;
    if (kept === memory.length) memory = Buffer.allocUnsafeSlow(memory.length * 2);
    else if (end > 0 && memory.length > READ_BYTES && kept < READ_BYTES) memory = Buffer.allocUnsafeSlow(READ_BYTES);
    if (kept > 0 && (end > 0 || memory !== from)) from.copy(memory, 0, end, total);
  };
  const socket: Socket = connect({
    ...to,
    onread: {
      buffer: () => memory.subarray(kept),
      callback: (count) => {
        deliver(kept + count);
        return true;
      },
    },
  });
  return socket;
}

/** A connection, and until when it was heard of. Times are of performance.now(). */
type Watched = { socket: Socket; server: string; heardAt: number };
const watched = new Set<Watched>();

/** Checks again and again whether what was sent since the last answer was answered. */
function watch(socket: Socket, { server, silenceMs }: { server: string; silenceMs: number }): void {
  const own: Watched = { socket, server, heardAt: performance.now() };
  let lookedAt = own.heardAt;
  let read = 0;
  let written = 0;
  let askedAt: number | undefined;
  const timer = setInterval(() => {
    const now = performance.now();
    if (socket.bytesRead !== read) {
      // It came since the last look, maybe right after it.
      own.heardAt = lookedAt;
      read = socket.bytesRead;
      written = socket.bytesWritten;
      askedAt = undefined;
    } else if (socket.bytesWritten !== written) {
      askedAt ??= now;
      if (now - askedAt > silenceMs) cutSilent(server, { since: askedAt });
    }
    lookedAt = now;
  }, CHECK_INTERVAL_MS);
  timer.unref();
  watched.add(own);
  socket.once("close", () => {
    clearInterval(timer);
    watched.delete(own);
  });
}

/**
 * Cuts all connections to a server that weren't heard of since then: idle ones are likely as dead as the one that was
 * used.
 */
function cutSilent(to: string, { since }: { since: number }): void {
  for (const { socket, server, heardAt } of watched) {
    if (server === to && heardAt < since)
      socket.destroy(Object.assign(new Error("Postgres does not answer."), { code: "ETIMEDOUT" }));
  }
}
