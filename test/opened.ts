import { afterAll } from "vitest";

type Close = () => Promise<void>;
/** A process or server, or a database. */
type Opened = { stop: Close } | { drop: Close };

/** Closes what the tests of a file open when they are over, the last one first. To be called once in a file. */
export function closeAfterAll(): { closing: Close[]; opened: <T extends Opened>(resource: T) => T } {
  const closing: Close[] = [];
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });
  const opened = <T extends Opened>(resource: T): T => {
    closing.push("stop" in resource ? resource.stop : resource.drop);
    return resource;
  };
  return { closing, opened };
}
