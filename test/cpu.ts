/** Milliseconds of CPU that `work` takes in this thread: unlike the time, they are no more on a busy machine. */
export function cpuMsOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
