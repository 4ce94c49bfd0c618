import { type Host, isTooLong } from "./host-record.ts";
import { findSlow, type Place, type Places, putBack, SLOW_MS } from "./places.ts";

/*
 * The lanes of a host, each of which takes one of its requests after the other. Lanes and not requests wait for places,
 * because waiting for a place costs as much as reading a small document.
 */

/** A lane gives its place to the next lane after so many requests or so long. */
const LANE_FETCHES = 8;
const LANE_MS = 200;

/** Opens as many lanes as the host may have and its requests need. Where these need a distance, the next one later. */
export function openLanes(places: Places, host: Host): void {
  while (host.lanes < host.concurrency && host.lanes - host.running.size < host.lines.size()) {
    const now = performance.now();
    if (host.nextAt > now) return openLater(places, host, host.nextAt - now);
    host.nextAt = now + host.gapMs;
    host.lanes++;
    places.enter({
      get tenant() {
        return host.lines.next()?.tenant ?? "";
      },
      // Slow hosts, and those that haven't answered yet, share a part of all places.
      isShared: !host.hasAnswered || host.averageMs >= SLOW_MS,
      run: (place) => void runLane(places, host, place),
      onSlow: (place, ms) => noteSlow(places, host, { place, ms }),
    });
  }
}

/** Sees to it that who is next doesn't wait for slow requests of a tenant with more of them. */
export function relieve(places: Places, host: Host): void {
  const next = host.lines.next();
  if (!next || host.lanes < host.concurrency) return;
  if (host.running.size < host.lanes) return places.admit();
  const heldBy = (tenant: string) => host.lines.of(tenant).busy;
  const place = findSlow(host.running, { most: host.concurrency, heldBy, least: next.busy });
  if (place) putBack(place);
}

function openLater(places: Places, host: Host, ms: number): void {
  host.timer ??= setTimeout(() => {
    host.timer = undefined;
    openLanes(places, host);
  }, ms);
}

async function runLane(places: Places, host: Host, place: Place): Promise<void> {
  const end = performance.now() + LANE_MS;
  for (let fetches = 0; fetches < LANE_FETCHES && performance.now() < end; fetches++) {
    const next = host.lines.take();
    if (!next) break;
    const { line, request } = next;
    place.serve(line.tenant);
    host.running.add(place);
    await request.run(place);
    host.running.delete(place);
    host.lines.end(line);
    if (host.lanes > host.concurrency || host.gapMs > 0) break;
  }
  place.leave();
  host.lanes--;
  openLanes(places, host);
}

/** What is known to be slow by now needn't wait for its turn to be told so, and may leave its lane to another tenant. */
function noteSlow(places: Places, host: Host, { place, ms }: { place: Place; ms: number }): void {
  const line = host.lines.of(place.tenant);
  line.averageMs = Math.max(line.averageMs ?? 0, ms);
  host.lines.shorten(line, () => isTooLong(host, line));
  relieve(places, host);
}
