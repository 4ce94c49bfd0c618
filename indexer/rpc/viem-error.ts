import { hostOf } from "../../net/node-address.ts";

/** A node's page of HTML is one of its messages. */
const MAX_MESSAGE_LENGTH = 200;

/** An error of viem on one line: what it says first, the status, its details, why a fetch failed. The rest is the request. */
export function shortMessage(error: unknown): string {
  const { shortMessage: short, status, details, message } = error as Partial<ErrorOfViem>;
  const text = [
    short ?? message ?? String(error),
    status !== undefined && `Status ${status}.`,
    details !== short && details,
    details === FETCH_FAILED && `(${rootOf(error)})`,
  ]
    .flatMap((part) => (part ? [part.split("\n")[0]!] : []))
    .join(" ")
    .replace(/https?:\/\/\S+/g, (url) => (URL.canParse(url) ? hostOf(url) : "URL"));
  return text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH)}…` : text;
}
type ErrorOfViem = { shortMessage: string; status: number; details: string; message: string };

/** All that fetch says by itself. */
const FETCH_FAILED = "fetch failed";

/** What is behind an error: a code as ECONNREFUSED, or else the words. */
function rootOf(error: unknown): string {
  const { cause, code, message } = error as Error & { code?: string };
  return cause instanceof Error ? rootOf(cause) : (code ?? message);
}
