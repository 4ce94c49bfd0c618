/** A line for the terminal: what the worker has done. */
export function summaryOf({
  tokens,
  failures,
  seconds,
}: {
  tokens: number;
  failures: number;
  seconds: number;
}): string {
  const failed = failures > 0 ? `; ${failures} failed and will be tried again` : "";
  return `worker  ${tokens} ${tokens === 1 ? "token" : "tokens"} in ${seconds} s${failed}`;
}
