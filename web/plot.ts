import { html } from "hono/html";
import type { Html } from "./html.ts";
import { formatDuration, formatNumber } from "./text.ts";

type Point = { at: number; value: number };

const WIDTH = 240;
const HEIGHT = 48;
/** Most points of a line, which is one every few pixels. */
const MAX_POINTS = 80;

/** A value over time as a small line, with its last value and its range as text. */
export function renderPlot(
  title: string,
  { points, format = formatNumber }: { points: readonly Point[]; format?: (value: number) => string },
): Html {
  const values = points.map(({ value }) => value);
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return html``;
  const low = Math.min(...values);
  const high = Math.max(...values);
  const text = `${title}: ${format(last.value)} now, from ${format(low)} to ${format(high)} in the last ${formatDuration((last.at - first.at) / 1000)}`;
  return html`<figure class="plot">
    <figcaption>${title} <b>${format(last.value)}</b></figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${text}">
      <polyline points="${lineOf(thin(points), { low, high })}" />
    </svg>
    <p class="range">
      <span>${format(low)} – ${format(high)}</span><span>${formatDuration((last.at - first.at) / 1000)}</span>
    </p>
  </figure>`;
}

/** Reduces points to `MAX_POINTS`. Each one kept is the highest of its group, so that short peaks stay visible. */
function thin(points: readonly Point[]): Point[] {
  const size = Math.ceil(points.length / MAX_POINTS);
  return Array.from({ length: Math.ceil(points.length / size) }, (_, n) => {
    const part = points.slice(n * size, (n + 1) * size);
    return part.reduce((most, point) => (point.value > most.value ? point : most));
  });
}

/** The points of the line in the drawing. A flat line lies in the middle. */
function lineOf(points: readonly Point[], { low, high }: { low: number; high: number }): string {
  const from = points[0]?.at ?? 0;
  const time = Math.max(1, (points.at(-1)?.at ?? 0) - from);
  const margin = 3;
  return points
    .map(({ at, value }) => {
      const x = ((at - from) / time) * WIDTH;
      const share = high === low ? 0.5 : (value - low) / (high - low);
      return `${x.toFixed(1)},${(HEIGHT - margin - share * (HEIGHT - 2 * margin)).toFixed(1)}`;
    })
    .join(" ");
}
