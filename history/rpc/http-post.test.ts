import { Agent, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { serveOrigin } from "../../test/origin.ts";
import { HttpTimeoutError, post } from "./http-post.ts";

const TIMEOUT_MS = 500;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Sends a request to a server that answers with `answer`. Returns how many bytes came. */
async function ask(answer: (response: ServerResponse, socket: Socket) => void): Promise<number> {
  const { url, close } = await serveOrigin((request, response) => {
    request.resume();
    answer(response, request.socket);
  });
  const agent = new Agent({ keepAlive: true });
  ends.push(() => agent.destroy(), close);
  const { bytes } = await post(new URL(url), {
    headers: {},
    body: "{}",
    agent,
    signal: new AbortController().signal,
    timeoutMs: TIMEOUT_MS,
    maxBytes: 2 ** 20,
  });
  return bytes.length;
}

/** Writes a piece every `everyMs`, for ever or `pieces` times. */
async function drip(write: (piece: number) => unknown, { everyMs, pieces = Infinity }: Drip): Promise<void> {
  const stop = new AbortController();
  ends.push(() => stop.abort());
  for (let piece = 0; piece < pieces && !stop.signal.aborted; piece++) {
    await sleep(everyMs);
    write(piece);
  }
}
type Drip = { everyMs: number; pieces?: number };

test("an answer that comes byte by byte is not waited for", async () => {
  const asked = ask((response) => void drip(() => response.write(" "), { everyMs: 100 }));
  await expect(asked).rejects.toThrow(HttpTimeoutError);
  await expect(asked).rejects.toThrow(/^Only \d bytes came in 0.5 s.$/);
});

test("nor is one of which the head does", async () => {
  const asked = ask((_, socket) => {
    socket.write("HTTP/1.1 200 OK\r\nx-slow: ");
    void drip(() => socket.write("x"), { everyMs: 100 });
  });
  await expect(asked).rejects.toThrow("No answer began within 1 s.");
});

test("nor is one of which nothing comes", async () => {
  await expect(ask(() => {})).rejects.toThrow("No answer for 0.5 s.");
  await expect(ask((response) => void response.write("some"))).rejects.toThrow(HttpTimeoutError);
});

test("nor is one without end", async () => {
  const piece = Buffer.alloc(4_000);
  const asked = ask((response) => void drip(() => response.write(piece), { everyMs: 100 }));
  await expect(asked).rejects.toThrow("The answer took more than 5 s.");
});

test("an answer that takes several times as long as nothing may come is whole, also where it was slow to begin", async () => {
  const piece = Buffer.alloc(4_000);
  const asked = ask((response) => {
    setTimeout(() => {
      void drip(() => response.write(piece), { everyMs: 100, pieces: 30 }).then(() => response.end());
    }, TIMEOUT_MS * 0.4);
  });
  expect(await asked).toBe(120_000);
});
