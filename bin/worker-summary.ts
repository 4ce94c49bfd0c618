/** A line for the terminal: what the worker has done. `failures`: how many failed, by code. */
export function summaryOf({
  tokens,
  failures,
  seconds,
}: {
  tokens: number;
  failures: ReadonlyMap<string, number>;
  seconds: number;
}): string {
  const counts = [...failures].toSorted(([, a], [, b]) => b - a).map(([code, count]) => `${count} ${code}`);
  const failed = counts.length > 0 ? `; failed: ${counts.join(", ")}` : "";
  return `worker  ${tokens} ${tokens === 1 ? "token" : "tokens"} in ${seconds} s${failed}`;
}
