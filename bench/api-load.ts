/**
 * Load on an HTTP server, as a process of its own: `api-load.ts PORT FILE CONNECTIONS SECONDS`, FILE with a request path
 * a line. Prints one line of JSON. It reads sockets itself, because a client that parses takes more than the server.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";

/** What it prints: percentiles in milliseconds, the bytes of an answer's body on average, and how many failed. */
export type LoadResult = { requestsPerSecond: number; p50: number; p99: number; bytes: number; errors: number };

const [port = "", file = "", connections = "1", seconds = "1"] = process.argv.slice(2);
const requests = readFileSync(file, "utf8")
  .split("\n")
  .filter((path) => path !== "")
  .map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: bench-key-0123\r\n\r\n`));

/** Not counted: code that isn't compiled, connections that aren't open, pages that aren't in memory. */
const WARM_UP_MS = 1500;

const startedAt = performance.now();
const endsAt = startedAt + WARM_UP_MS + Number(seconds) * 1000;
const times: number[] = [];
let bytes = 0;
let errors = 0;
let next = 0;

await Promise.all(Array.from({ length: Number(connections) }, run));
times.sort((a, b) => a - b);
const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? Number.NaN;
const result: LoadResult = {
  requestsPerSecond: times.length / Number(seconds),
  p50: at(0.5),
  p99: at(0.99),
  bytes: bytes / Math.max(1, times.length),
  errors,
};
console.log(JSON.stringify(result));

/** One connection with one request at a time. */
function run(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1");
    socket.setNoDelay();
    let sentAt = 0;
    let head = "";
    let left = -1;
    let length = 0;
    const send = () => {
      sentAt = performance.now();
      if (sentAt >= endsAt) {
        socket.end();
        return resolve();
      }
      left = -1;
      head = "";
      socket.write(requests[next++ % requests.length] as Buffer);
    };
    socket.on("connect", send);
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      if (left < 0) {
        head += chunk.toString("latin1");
        const end = head.indexOf("\r\n\r\n");
        if (end < 0) return;
        if (!head.startsWith("HTTP/1.1 200")) errors += 1;
        length = Number(/\r\ncontent-length: (\d+)/i.exec(head.slice(0, end))?.[1] ?? 0);
        left = length - (head.length - end - 4);
      } else left -= chunk.length;
      if (left > 0) return;
      const now = performance.now();
      if (now - startedAt >= WARM_UP_MS) {
        times.push(now - sentAt);
        bytes += length;
      }
      send();
    });
  });
}
