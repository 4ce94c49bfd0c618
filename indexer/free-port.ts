import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below the ports that systems give to outgoing connections: one of those could take a port before whoever asked for it
 * listens there.
 */
const PORTS = { from: 10_000, to: 32_768 };
const MAX_ATTEMPTS = 100;

/** A port of this machine that nobody listens on now, from 10000 to 32767. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port was found from ${PORTS.from} to ${PORTS.to - 1}, in ${MAX_ATTEMPTS} attempts.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
