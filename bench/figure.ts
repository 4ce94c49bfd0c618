/** What a figure is measured against. */
export type Goal = { atMost: number } | { atLeast: number };

/** One line of the table at the end. Without a goal it only tells what lies behind the others. */
export type Figure = {
  figure: string;
  value: number;
  /** "×" for a ratio. */
  unit: string;
  goal?: Goal;
  detail?: string;
};

/** How the benchmarks are run: `logs` are the sizes of the generated chains, the smallest first; `rows`: only these. */
export type BenchOptions = { logs: number[]; runs: number; rows?: string[] | undefined };

/** Results that don't agree with what they must be: no figure counts then. */
export class WrongResultError extends Error {}

function isMet(value: number, goal: Goal): boolean {
  return "atMost" in goal ? value <= goal.atMost : value >= goal.atLeast;
}

/** The figures as text: aligned columns, a mark at each goal. */
export function formatFigures(figures: Figure[]): string {
  const rows = figures.map(({ figure, value, unit, goal, detail = "" }) => [
    figure,
    `${formatNumber(value)} ${unit}`.trim(),
    goal ? formatGoal(goal) : "",
    goal ? (isMet(value, goal) ? "met" : "MISSED") : "",
    detail,
  ]);
  const all = [["figure", "value", "goal", "", ""], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) => (column === 1 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Three digits that count. */
export function formatNumber(value: number): string {
  if (value === 0 || Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toPrecision(3);
}

/** The median; NaN where there are no values. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = Number.NaN, high = Number.NaN] = [sorted[sorted.length % 2 ? middle : middle - 1], sorted[middle]];
  return (low + high) / 2;
}

/** The smallest value that `share` of all values don't exceed. */
export function percentile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN;
}

/** A number of logs in words. */
export function sizeOf(logs: number): string {
  if (logs % 1_000_000 === 0) return `${logs / 1_000_000}M logs`;
  return logs % 1000 === 0 ? `${logs / 1000}k logs` : `${logs} logs`;
}

function formatGoal(goal: Goal): string {
  return "atMost" in goal ? `≤ ${goal.atMost}` : `≥ ${goal.atLeast}`;
}
