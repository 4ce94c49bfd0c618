import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { Redis } from "ioredis";
import { findFreePort } from "../indexer/free-port.ts";

/** A Redis that runs, and the keys that it has. */
export type TestRedis = { url: string; keys: () => Promise<string[]>; stop: () => Promise<void> };

/** Whether there is a Redis to start: npm has no package of its binaries, so that it comes with the machine or not at all. */
export const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;

/** A real Redis that keeps nothing. */
export async function startRedis(): Promise<TestRedis> {
  const port = await findFreePort();
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", "/tmp"];
  const child = spawn("redis-server", options, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const data of child.stdout) if (String(data).includes("Ready to accept connections")) break;
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url);
  client.on("error", () => {});
  return {
    url,
    keys: async () => client.keys("*"),
    stop: async () => {
      client.disconnect();
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

type RedisStandIn = TestRedis & {
  /** How often a password was refused. */
  refusals: () => number;
  /** How often somebody connected. */
  connections: () => number;
  /** From now on it counts nothing and answers with this error, or counts again. */
  refuse: (error: string | undefined) => void;
  comeBack: () => Promise<void>;
  /** From now on it takes commands and says nothing. */
  hang: () => void;
};

/** As much of Redis as the library of rate limits asks for: its script counts up a key that expires. */
export async function startRedisStandIn({ password }: { password?: string } = {}): Promise<RedisStandIn> {
  let refusals = 0;
  let connections = 0;
  let refusal: string | undefined;
  let isHung = false;
  const counters = new Map<string, { points: number; endsAt: number }>();
  const sockets = new Set<Socket>();
  const count = (key: string, points: number, seconds: number) => {
    const now = Date.now();
    const known = counters.get(key);
    const counter = known && known.endsAt > now ? known : { points: 0, endsAt: now + seconds * 1000 };
    counter.points += points;
    counters.set(key, counter);
    return `*2\r\n:${counter.points}\r\n:${counter.endsAt - now}\r\n`;
  };
  const answer = ([name = "", ...args]: string[]) => {
    if (/^auth$/i.test(name) && args[0] !== password) {
      refusals++;
      return "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    }
    if (/^eval(sha)?$/i.test(name))
      return refusal ? `-${refusal}\r\n` : count(args[2] ?? "", Number(args[3]), Number(args[4]));
    return /^info$/i.test(name) ? "$9\r\nloading:0\r\n" : "+OK\r\n";
  };
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => {
      // Each command is an array of texts; they come whole on the loopback device.
      for (const command of data.toString().split(/(?=\*\d+\r\n)/)) {
        const words = command.split("\r\n").filter((_, place) => place > 0 && place % 2 === 0);
        if (!isHung) socket.write(answer(words));
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    url: `redis://127.0.0.1:${port}`,
    keys: async () => [...counters.keys()],
    refusals: () => refusals,
    connections: () => connections,
    refuse: (error) => {
      refusal = error;
    },
    hang: () => {
      isHung = true;
    },
    comeBack: async () => {
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
    },
    stop: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
