/** Runs tasks beside a loop that doesn't wait for them, one at a time. */
export function createBackground() {
  let running: Promise<void> | undefined;
  return {
    isBusy: () => running !== undefined,
    /** Starts a task. Only to be called while none runs: see `isBusy`. */
    run: (task: () => Promise<void>, onError: (error: Error) => void): void => {
      running = task()
        .catch(onError)
        .finally(() => (running = undefined));
    },
    /** Waits for the task that runs, if one does. */
    settled: async (): Promise<void> => running,
  };
}
