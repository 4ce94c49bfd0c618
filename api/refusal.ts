import type { Context } from "hono";
import { createLogThrottle } from "../offchain/log-throttle.ts";
import { HttpError, toHttpError } from "./http/errors.ts";
import type { Env } from "./http/request-state.ts";
import { send } from "./http/send.ts";
import { describeError, type Log } from "./log.ts";
import type { Monitor } from "./monitor.ts";

/** Answers a request that was refused or has failed. */
type Refuse = (error: unknown, c: Context<Env>) => Promise<Response>;

/** Creates the answer in JSON. Faults of ours are logged, and so is why the database refuses requests. */
export function createRefuse({ monitor, log }: { monitor: Monitor; log: Log }): Refuse {
  const mayLog = createLogThrottle();

  /** Says why the database refuses requests, as for a full disk. That it can't be reached, the monitor says. */
  function tellRefusal(error: unknown): void {
    const { code } = error as { code?: unknown };
    if (monitor.isReachable() && mayLog(String(code)))
      log("warn", "the database refuses requests", describeError(error));
  }

  return (error, c) => {
    const known = toHttpError(error);
    if (!known) log("error", "request failed", { request_id: c.get("state").requestId, ...describeError(error) });
    else if (error !== known) tellRefusal(error);
    const { status, message, headers, type } =
      known ?? new HttpError(500, "Something went wrong on our side. The request id helps to find out what.");
    return send(c, {
      status,
      body: JSON.stringify({ type, message }),
      headers: { "cache-control": "no-store", ...headers },
    });
  };
}
