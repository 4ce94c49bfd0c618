import { afterAll } from "vitest";

type Close = () => Promise<void>;

/** Closes what the tests of a file open when they are over, the last one first. To be called once in a file. */
export function closeAfterAll(): { closing: Close[]; opened: <T extends { stop: Close }>(resource: T) => T } {
  const closing: Close[] = [];
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });
  const opened = <T extends { stop: Close }>(resource: T): T => {
    closing.push(resource.stop);
    return resource;
  };
  return { closing, opened };
}
