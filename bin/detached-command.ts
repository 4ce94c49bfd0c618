import { spawn } from "node:child_process";
import { once } from "node:events";
import { basename } from "node:path";
import { text } from "node:stream/consumers";

/**
 * Runs a command to its end, in a process group of its own: Ctrl-C, which would leave half of what it does, reaches us
 * alone. Returns what it prints.
 *
 * @throws Error with what the command complains of
 */
export async function runDetached(file: string, args: string[]): Promise<string> {
  const child = spawn(file, args, { cwd: "/", detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const [printed, complaints, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  if (code !== 0)
    throw new Error(complaintOf(complaints) ?? `${basename(file)} ended with ${signal ?? `code ${code}`}`);
  return printed;
}

/** The first error is what went wrong: those after it are about what is undone. */
function complaintOf(lines: string): string | undefined {
  return /\b(?:FATAL|PANIC|ERROR|error):\s+(.+)/.exec(lines)?.[1] ?? (lines.trim().split("\n").at(-1) || undefined);
}
