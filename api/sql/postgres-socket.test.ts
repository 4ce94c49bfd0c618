import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import * as fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { openSocket } from "./postgres-socket.ts";

let server: Server | undefined;
afterEach(() => {
  vi.useRealTimers();
  server?.close();
});

/** Starts a server that behaves as `serve` says, and connects to it. */
async function connectTo(serve: (peer: Socket) => void, { silenceMs = 60_000 } = {}): Promise<Socket> {
  server = createServer((peer) => {
    peer.on("error", () => {});
    serve(peer);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return openSocket({ host: ["127.0.0.1"], port: [port], path: false, ssl: false }, { silenceMs });
}

/** A message of the protocol: a letter, the length, and `length` - 4 bytes. */
function message(length: number, fill: number): Buffer {
  const bytes = Buffer.alloc(5 + length, fill);
  bytes.write("D", 0);
  bytes.writeUInt32BE(4 + length, 1);
  return bytes;
}

test("messages arrive whole and in order, however they are cut and however large they are", async () => {
  const sizes = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 400_000 }));
  const cuts = fc.array(fc.integer({ min: 1, max: 200_000 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fc.array(sizes, { minLength: 1, maxLength: 20 }), cuts, async (lengths, pieces) => {
      const sent = Buffer.concat(lengths.map((length, n) => message(length, n)));
      const socket = await connectTo((peer) => {
        for (let at = 0, n = 0; at < sent.length; n += 1) {
          const piece = pieces[n % pieces.length] ?? 1;
          peer.write(sent.subarray(at, at + piece));
          at += piece;
        }
        peer.end();
      });
      const received: Buffer[] = [];
      socket.on("data", (data: Buffer) => {
        for (let at = 0; at < data.length;) {
          const end = at + 1 + data.readUInt32BE(at + 1);
          expect(end).toBeLessThanOrEqual(data.length);
          received.push(Buffer.from(data.subarray(at, end)));
          at = end;
        }
      });
      await once(socket, "close");
      server?.close();
      expect(received.map(({ length }) => length - 5)).toEqual(lengths);
      expect(Buffer.concat(received).equals(sent)).toBe(true);
    }),
    { numRuns: 40 },
  );
});

test("a connection is cut when a question isn't answered, and not while nothing is asked", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const socket = await connectTo((peer) => peer.once("data", () => peer.write(message(1, 0))), { silenceMs: 1000 });
  const failed = once(socket, "error");
  socket.write("a question with an answer");
  await once(socket, "data");
  vi.advanceTimersByTime(3_600_000);
  expect(socket.destroyed).toBe(false);

  socket.write("a question without one");
  vi.advanceTimersByTime(900);
  expect(socket.destroyed).toBe(false);
  vi.advanceTimersByTime(1500);
  const [error] = (await failed) as [Error & { code?: string }];
  expect([error.code, socket.destroyed]).toEqual(["ETIMEDOUT", true]);
});

test("idle connections to a server that is silent are cut with the one that was asked", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const asked = await connectTo(() => {}, { silenceMs: 1000 });
  await once(asked, "connect");
  const idle = openSocket(
    { host: ["127.0.0.1"], port: [asked.remotePort ?? 0], path: false, ssl: false },
    { silenceMs: 1000 },
  );
  const failed = [once(asked, "error"), once(idle, "error")];
  await once(idle, "connect");
  vi.advanceTimersByTime(600);
  asked.write("a question");
  vi.advanceTimersByTime(2500);
  await Promise.all(failed);
  expect([asked.destroyed, idle.destroyed]).toEqual([true, true]);
});
