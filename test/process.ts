import { readdirSync, readFileSync } from "node:fs";

/** Pids of all processes that run. Linux only. */
export function listProcessIds(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Pids of the processes that a process started and that still run. Linux only. */
export function listChildren(pid: number): number[] {
  return listProcessIds().filter((child) => parentOf(child) === pid);
}

/** Pids of all processes below one. Linux only. */
export function listDescendants(pid: number): number[] {
  return listChildren(pid).flatMap((child) => [child, ...listDescendants(child)]);
}

function parentOf(pid: number): number | undefined {
  const parent = statOf(pid)?.[1];
  return parent === undefined ? undefined : Number(parent);
}

/** Whether a process still runs. One that ended and that nobody has asked about doesn't. */
export function isRunning(pid: number): boolean {
  const state = statOf(pid)?.[0];
  return state !== undefined && !["Z", "X"].includes(state);
}

/** What proc_pid_stat(5) lists of a process behind its name, its state first. Undefined where there is none. */
export function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in brackets may hold blanks and brackets.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}
