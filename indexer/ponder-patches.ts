import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

/**
 * Two functions of Ponder 0.17.7 and its drizzle take a sixth of a backfill for nothing. They are changed as they are
 * loaded, to do the same faster; a version in which they look otherwise is refused.
 */

type Patch = { file: string; find: string; replace: string };

const PATCHES: Patch[] = [
  {
    // Asked some ten times for every value of every insert, and walking up the classes each time: 2.3 s in 100,000 logs.
    // The answer depends on nothing but the prototype.
    file: "/drizzle-orm/entity.js",
    find: "function is(value, type) {",
    replace: `
const answersByType = new Map();
function is(value, type) {
  if (!value || typeof value !== "object") return false;
  const prototype = Object.getPrototypeOf(value);
  let answers = answersByType.get(type);
  if (answers === undefined) answersByType.set(type, (answers = new Map()));
  let answer = answers.get(prototype);
  if (answer === undefined) answers.set(prototype, (answer = isByWalking(value, type)));
  return answer;
}
function isByWalking(value, type) {`,
  },
  {
    // Logs that share a topic but not the shape are matched, queued, tried and fail, and each failure makes an error with
    // a stack and a keccak: 30 µs. Every ERC-721 Transfer is tried as a first-generation one, every ERC-20 one as both.
    file: "/ponder/dist/esm/runtime/events.js",
    find: "if (isLogFilterMatched({ filter, log }) &&",
    replace:
      "if (isLogFilterMatched({ filter, log }) && hasShape(log, eventCallbacks[logEventCallbackIndex].abiItem) &&",
  },
  {
    file: "/ponder/dist/esm/runtime/events.js",
    find: "export const buildEvents = ",
    replace: `
const shapes = new Map();
/** Whether a log has the topics that the event indexes, and a word of data for each of its other inputs. */
function hasShape({ topics, data }, abiItem) {
  let shape = shapes.get(abiItem);
  if (shape === undefined) {
    const indexed = abiItem.inputs.filter((input) => input.indexed).length;
    shapes.set(abiItem, (shape = { indexed, length: 2 + 64 * (abiItem.inputs.length - indexed) }));
  }
  return (shape.indexed === 0 || topics[shape.indexed]) && data.length >= shape.length;
}
export const buildEvents = `,
  },
];

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const patches = url.startsWith("file:") ? PATCHES.filter(({ file }) => fileURLToPath(url).endsWith(file)) : [];
    if (patches.length === 0) return loaded;
    let source = Buffer.from(loaded.source as Uint8Array | string as string).toString();
    for (const { file, find, replace } of patches) {
      if (source.split(find).length !== 2) throw new Error(`${file} is not the one that is patched here`);
      source = source.replace(find, () => replace);
    }
    return { ...loaded, source };
  },
});
