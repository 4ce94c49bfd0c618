import type { Place } from "./places.ts";

/** A request that waits for its host. */
type Waiting = { run: (place: Place) => Promise<void>; postpone: () => void };

/** What one tenant asks of a host. */
export type Line = {
  tenant: string;
  waiting: Waiting[];
  /** How many of its requests run. */
  busy: number;
  /** The moving average of how long its requests take, in milliseconds. Undefined before the first. */
  averageMs: number | undefined;
  /** When its next postponed request may come. */
  nextSlot: number;
};

/** The requests to one host, of each tenant in a line of its own. */
export type HostLines = {
  of: (tenant: string) => Line;
  add: (line: Line, request: Waiting) => void;
  /** Whose request is taken next: of those with the fewest running, who had none taken for longest. */
  next: () => Line | undefined;
  take: () => { line: Line; request: Waiting } | undefined;
  /** Postpones the last of a line's requests as long as `isTooLong`. */
  shorten: (line: Line, isTooLong: () => boolean) => void;
  /** How many requests wait. */
  size: () => number;
  /** How many tenants have some that wait. */
  tenants: () => number;
};

/** How many lines without a request are remembered. */
const MAX_IDLE = 50;

export function createHostLines(): HostLines {
  const lines = new Map<string, Line>();
  /** Those in which requests wait. */
  const ready = new Set<Line>();
  let size = 0;

  function forgetIdle(): void {
    const now = performance.now();
    for (const [tenant, line] of lines)
      if (!ready.has(line) && line.busy === 0 && line.nextSlot <= now) lines.delete(tenant);
  }

  function next(): Line | undefined {
    let found: Line | undefined;
    for (const line of ready) if (!found || line.busy < found.busy) found = line;
    return found;
  }

  return {
    of(tenant) {
      let line = lines.get(tenant);
      if (line) return line;
      if (lines.size >= MAX_IDLE + ready.size) forgetIdle();
      line = { tenant, waiting: [], busy: 0, averageMs: undefined, nextSlot: 0 };
      lines.set(tenant, line);
      return line;
    },
    add(line, request) {
      line.waiting.push(request);
      size++;
      ready.add(line);
    },
    next,
    take() {
      const line = next();
      const request = line?.waiting.shift();
      if (!line || !request) return undefined;
      size--;
      // Last of those with as many running.
      ready.delete(line);
      if (line.waiting.length > 0) ready.add(line);
      return { line, request };
    },
    shorten(line, isTooLong) {
      while (line.waiting.length > 0 && isTooLong()) {
        const last = line.waiting.pop();
        size--;
        if (line.waiting.length === 0) ready.delete(line);
        last?.postpone();
      }
    },
    size: () => size,
    tenants: () => ready.size,
  };
}
