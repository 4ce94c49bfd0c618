import { type Place, SLOW_MS } from "./places.ts";

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
  /** When it was last used. */
  usedAt: number;
};

/** The requests to one host, of each tenant in a line of its own. */
export type HostLines = {
  of: (tenant: string) => Line;
  add: (line: Line, request: Waiting) => void;
  /**
   * Whose request is taken next: of those with the fewest running, one that isn't known to be slow, and of these who had
   * none taken for longest.
   */
  next: () => Line | undefined;
  /** Takes that request. It runs until `end`. */
  take: () => { line: Line; request: Waiting } | undefined;
  end: (line: Line) => void;
  /** Postpones the last of a line's requests as long as `isTooLong`. */
  shorten: (line: Line, isTooLong: () => boolean) => void;
  /** How many requests wait. */
  size: () => number;
  /** How many tenants have some that wait. */
  tenants: () => number;
};

/** How many lines are kept before those without a request are forgotten. */
const MIN_LINES = 50;
/** How long it is remembered that a line is slow, from its last request on: until its next ones come, if any do. */
const REMEMBERED_MS = 300_000;

/** Creates the lines of a host to which there is no request yet. */
export function createHostLines(): HostLines {
  const lines = new Map<string, Line>();
  /** Those in which requests wait. */
  const ready = new Set<Line>();
  let size = 0;
  let mostLines = MIN_LINES;
  /** What `next` found, until something changes: places ask for each lane that waits. */
  let found: Line | undefined;

  const isSlow = ({ averageMs = 0 }: Line) => averageMs >= SLOW_MS;

  function forgetIdle(): void {
    const now = performance.now();
    for (const [tenant, line] of lines) {
      const isIdle = !ready.has(line) && line.busy === 0 && line.nextSlot <= now;
      if (isIdle && !(isSlow(line) && line.usedAt > now - REMEMBERED_MS)) lines.delete(tenant);
    }
    mostLines = Math.max(MIN_LINES, lines.size * 2);
  }

  const isBefore = (one: Line, other: Line) =>
    one.busy < other.busy || (one.busy === other.busy && !isSlow(one) && isSlow(other));

  function next(): Line | undefined {
    if (!found) for (const line of ready) if (!found || isBefore(line, found)) found = line;
    return found;
  }

  return {
    of(tenant) {
      let line = lines.get(tenant);
      if (line) return line;
      if (lines.size >= mostLines) forgetIdle();
      line = { tenant, waiting: [], busy: 0, averageMs: undefined, nextSlot: 0, usedAt: 0 };
      lines.set(tenant, line);
      return line;
    },
    add(line, request) {
      line.usedAt = performance.now();
      line.waiting.push(request);
      size++;
      ready.add(line);
      found = undefined;
    },
    next,
    take() {
      const line = next();
      const request = line?.waiting.shift();
      if (!line || !request) return undefined;
      size--;
      line.busy++;
      // Last of those with as many running.
      ready.delete(line);
      if (line.waiting.length > 0) ready.add(line);
      found = undefined;
      return { line, request };
    },
    end(line) {
      line.busy--;
      found = undefined;
    },
    shorten(line, isTooLong) {
      while (line.waiting.length > 0 && isTooLong()) {
        const last = line.waiting.pop();
        size--;
        if (line.waiting.length === 0) ready.delete(line);
        found = undefined;
        last?.postpone();
      }
    },
    size: () => size,
    tenants: () => ready.size,
  };
}
