import { execFileSync } from "node:child_process";
import { listProcessIds, statOf } from "../test/process.ts";

/** Often enough to see a peak of memory that lasts. */
const SAMPLE_INTERVAL_MS = 100;

type ProcessRow = { pid: number; parent: number; cpuTicks: number; residentPages: number };

const ticksPerSecond = systemConstant("CLK_TCK");
const bytesPerPage = systemConstant("PAGESIZE");

/** CPU seconds, user and system, of a process, of all that it started, and of those among them that have ended. */
export function cpuSecondsOf(pid: number): number {
  return treeOf(pid).reduce((sum, row) => sum + row.cpuTicks, 0) / ticksPerSecond;
}

/** Samples the resident memory of a process and all that it started. Returns its peak in bytes when stopped. */
export function watchMemory(pid: number): { stop: () => number } {
  let peakPages = 0;
  const sample = () => {
    const pages = treeOf(pid).reduce((sum, row) => sum + row.residentPages, 0);
    peakPages = Math.max(peakPages, pages);
  };
  const timer = setInterval(sample, SAMPLE_INTERVAL_MS);
  return {
    stop: () => {
      clearInterval(timer);
      sample();
      return peakPages * bytesPerPage;
    },
  };
}

function treeOf(root: number): ProcessRow[] {
  const rows = listProcesses();
  const tree = rows.filter((row) => row.pid === root);
  for (const parent of tree) tree.push(...rows.filter((row) => row.parent === parent.pid));
  return tree;
}

/** See proc_pid_stat(5). The times of children count once they have ended and were waited for. */
function listProcesses(): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const pid of listProcessIds()) {
    // It may have ended since the folder was listed.
    const fields = statOf(pid)?.map(Number);
    if (!fields) continue;
    const [, parent = 0] = fields;
    const cpuTicks = fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0);
    rows.push({ pid, parent, cpuTicks, residentPages: fields[21] ?? 0 });
  }
  return rows;
}

function systemConstant(name: string): number {
  return Number(execFileSync("getconf", [name], { encoding: "utf8" }));
}
