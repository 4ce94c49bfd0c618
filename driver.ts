import { type Patch, patchModules } from "./module-patch.ts";

const changesOf = (file: string, changes: [find: string, replace: string][]): Patch[] =>
  changes.map(([find, replace]) => ({ file, find, replace }));

/**
 * Of a queue that never runs empty the driver (3.4.9) keeps the place of all that ever was in it, and looks through them
 * with each statement: that of idle connections, wherever more are open than are used. After 400,000 statements one took
 * 165 µs of CPU, 42 without that, and so on for ever.
 */
const QUEUE = changesOf("/postgres/src/queue.js", [
  [
    "xs[index - 1] = undefined",
    "xs[index - 1] = undefined; if (index >= 32 && index * 2 >= xs.length) { xs = xs.slice(index); index = 0 }",
  ],
]);

/**
 * Who has a connection to himself, by `begin` or `reserve`, and lost it, still sent the next statement there: that ended
 * the process, or was done for somebody else once the connection was made anew. It is refused as what was under way is:
 * https://github.com/porsager/postgres/issues/1208.
 */
const LOST = changesOf("/postgres/src/index.js", [
  ["let savepoints = 0", "let lost = null, savepoints = 0"],
  ["connection.onclose = reject", "connection.onclose = (e) => { lost = e; refuse(queries, e); reject(e) }"],
  [
    "c.queue === full\n          ? queries.push(q)",
    "lost ? q.reject(lost) : c.queue === full\n          ? queries.push(q)",
  ],
  [
    "const sql = Sql(handler)\n    sql.release = () => {",
    "let lost = null; c.onclose = (e) => { lost = e; refuse(queue, e) };" +
      "const sql = Sql(handler)\n    sql.release = () => { if (lost) return; c.onclose = null;",
  ],
  ["c.queue === full\n        ? queue.push(q)", "lost ? q.reject(lost) : c.queue === full\n        ? queue.push(q)"],
  [
    "function onopen(c) {",
    "function refuse(queue, e) { while (queue.length) queue.shift().reject(e) }\n  function onopen(c) {",
  ],
]);

/**
 * What was under way on a lost connection, or hadn't been sent yet, was still there once it was made anew: the first
 * statement failed with the error of the last one before, none was sent any more, or an answer that never came was waited
 * for: https://github.com/porsager/postgres/issues/1154.
 */
const LEFT_OVER = changesOf("/postgres/src/connection.js", [
  [
    "clearImmediate(nextWriteTimer)\n    socket.removeListener",
    "clearImmediate(nextWriteTimer); chunk = nextWriteTimer = null\n    socket.removeListener",
  ],
  [
    "!hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))",
    "if (query || sent.length) error(Errors.connection('CONNECTION_CLOSED', options, socket)); " +
      "query = results = errorResponse = null; result = new Result(); rows = 0",
  ],
]);

const hooks = patchModules([...QUEUE, ...LOST, ...LEFT_OVER]);
// Imported by a statement, it would be loaded before there are hooks.
const { default: postgres } = await import("postgres");
hooks.deregister();

export { postgres };
