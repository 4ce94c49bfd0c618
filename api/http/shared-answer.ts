import { shareMemory } from "./body-memory.ts";

type Answer = string | Buffer;
/** Makes the body of an answer. */
export type LoadAnswer = () => Promise<Answer> | Answer;

/** Makes an answer, or shares that of an equal request. Whoever gets a body must give its memory back. */
type Share = (key: string, load: LoadAnswer) => Promise<Answer>;

/** Requests that wait for the same answer, which isn't begun yet. */
type Group = PromiseWithResolvers<Answer> & { load: LoadAnswer; readers: number };

/** How many answers for one key are made at once: enough to keep two cores of Postgres busy. */
const MAX_RUNNING = 2;

/**
 * Lets equal requests that come at once share an answer: only few answers are made then, however many ask. A request
 * never shares an answer that was begun before it came, so its answer is as fresh as its own would be.
 */
export function createSharing(): Share {
  const byKey = new Map<string, { running: number; waiting: Group | undefined }>();

  async function run(key: string, group: Group): Promise<void> {
    const requests = byKey.get(key)!;
    requests.running += 1;
    try {
      const answer = await group.load();
      if (typeof answer !== "string") shareMemory(answer, { readers: group.readers });
      group.resolve(answer);
    } catch (error) {
      group.reject(error);
    }
    requests.running -= 1;
    const { waiting } = requests;
    requests.waiting = undefined;
    if (waiting) void run(key, waiting);
    else if (requests.running === 0) byKey.delete(key);
  }

  return (key, load) => {
    let requests = byKey.get(key);
    if (!requests) byKey.set(key, (requests = { running: 0, waiting: undefined }));
    if (requests.waiting) {
      requests.waiting.readers += 1;
      return requests.waiting.promise;
    }
    const group: Group = { ...Promise.withResolvers<Answer>(), load, readers: 1 };
    if (requests.running < MAX_RUNNING) void run(key, group);
    else requests.waiting = group;
    return group.promise;
  };
}
