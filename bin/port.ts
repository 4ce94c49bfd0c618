import { createServer } from "node:net";
import { type Config, ConfigError } from "../config.ts";

type Address = Pick<Config, "host" | "port">;

/** What keeps us from listening there, in a line for the operator. */
export function listenProblem({ code, message }: NodeJS.ErrnoException, { host, port }: Address): string {
  if (code === "EADDRINUSE") return `PORT ${port} is taken on ${host}. Expected a free one.`;
  if (code === "EACCES") return `PORT ${port} may not be used by this account. Expected another one.`;
  return `HOST ${host} can't be listened on: ${message}. Expected an address of this machine.`;
}

/** @throws ConfigError where we couldn't listen there now */
export function requireFreePort({ host, port }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error) => reject(new ConfigError(listenProblem(error, { host, port }))));
    server.listen(port, host, () => server.close(() => resolve()));
  });
}
