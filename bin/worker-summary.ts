/** What a worker has done since the last summary. */
type WorkerSummary = {
  /** Counts a token that was stored. `failure`: the code of why it failed, undefined where it didn't. */
  count: (failure: string | undefined) => void;
  /** A line for the terminal about the last `seconds`, which begins the next summary. Undefined where nothing was done. */
  next: (seconds: number) => string | undefined;
};

/** Creates a summary of nothing yet. */
export function createWorkerSummary(): WorkerSummary {
  let tokens = 0;
  const failures = new Map<string, number>();
  return {
    count: (failure) => {
      tokens++;
      if (failure !== undefined) failures.set(failure, (failures.get(failure) ?? 0) + 1);
    },
    next: (seconds) => {
      if (tokens === 0) return undefined;
      const counts = [...failures].toSorted(([, a], [, b]) => b - a).map(([code, count]) => `${count} ${code}`);
      const failed = counts.length > 0 ? `; failed: ${counts.join(", ")}` : "";
      const line = `worker  ${tokens} ${tokens === 1 ? "token" : "tokens"} in ${seconds} s${failed}`;
      tokens = 0;
      failures.clear();
      return line;
    },
  };
}
