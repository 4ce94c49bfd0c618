/** What goes on beside a loop that doesn't wait for it, one thing at a time. */
export function createBackground() {
  let running: Promise<void> | undefined;
  return {
    isBusy: () => running !== undefined,
    /** Begins a task where there is none. */
    run: (task: () => Promise<void>, onError: (error: Error) => void): void => {
      running = task()
        .catch(onError)
        .finally(() => (running = undefined));
    },
    /** Waits for the one that goes on, if one does. */
    settled: async (): Promise<void> => running,
  };
}
