import { type Patch, patchModules } from "../module-patch.ts";

const changesOf = (file: string, changes: [find: string, replace: string][]): Patch[] =>
  changes.map(([find, replace]) => ({ file, find, replace }));

/**
 * A queue of the driver (3.4.9) that never runs empty keeps a place for everything that ever was in it, and goes through
 * all of them with each statement. The queue of idle connections is such a one, wherever more are open than are used.
 * After 400,000 statements each took 165 µs of CPU instead of 42, and it grows on.
 */
const QUEUE = changesOf("/postgres/src/queue.js", [
  [
    "xs[index - 1] = undefined",
    "xs[index - 1] = undefined; if (index >= 32 && index * 2 >= xs.length) { xs = xs.slice(index); index = 0 }",
  ],
]);

/**
 * After a connection of `begin` or `reserve` was lost, the next statement was still sent there: that ended the process, or
 * the statement was done outside of the transaction once the connection was made anew. Now it is refused, like those that
 * were under way: https://github.com/porsager/postgres/issues/1208.
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
 * A connection that was made anew still had what was under way, or not yet sent, when it was lost: its first statement
 * failed with an error of before, nothing was sent any more, or it waited for an answer that never came:
 * https://github.com/porsager/postgres/issues/1154.
 */
const LEFT_OVER = changesOf("/postgres/src/connection.js", [
  [
    "clearImmediate(nextWriteTimer)\n    socket.removeListener",
    "clearImmediate(nextWriteTimer); chunk = nextWriteTimer = null\n    socket.removeListener",
  ],
  [
    "!hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))",
    "if (initial || query || sent.length) error(Errors.connection('CONNECTION_CLOSED', options, socket)); " +
      "query = results = errorResponse = null; result = new Result(); rows = 0",
  ],
]);

/** Whoever waited for the end of a COPY waited for ever where it failed, or its connection was lost, once all was sent. */
const COPY_END = changesOf("/postgres/src/connection.js", [
  [
    "stream && (stream.destroy(err), stream = null)",
    "stream && (stream.destroy(err), stream = null); final && (final(err), final = null)",
  ],
]);

/**
 * A connection that the other side closed before it was a session, as a proxy does whose Postgres is down, was made anew
 * at once and for ever: what was asked for never failed, at a thousand connections a second. Now it is refused. Where
 * there are several hosts, the next one's turn has come.
 */
const TURNED_AWAY = changesOf("/postgres/src/connection.js", [
  ["if (initial)\n      return reconnect()", "if (initial && options.host[retries + 1])\n      return reconnect()"],
]);

/**
 * A connection was never reserved if it was yet to be opened and `fetch_types` was off, or if the first try to open it
 * failed: the request was in a queue that nobody looked into again. And when a connection was lost while it fetched types,
 * a rejection that nobody could handle ended the process.
 */
const RESERVED = [
  ...changesOf("/postgres/src/index.js", [
    [
      "queries.push(query)\n        closed.length && connect(closed.shift(), query)",
      "closed.length ? connect(closed.shift(), query) : queries.push(query)",
    ],
  ]),
  ...changesOf("/postgres/src/connection.js", [
    [
      "initial.reserve && (initial = null)\n        return fetchArrayTypes()",
      "return fetchArrayTypes().catch(() => {})",
    ],
    [
      "initial && !initial.reserve && execute(initial)",
      "initial.reserve ? initial.reserve(connection) : execute(initial)",
    ],
  ]),
];

/**
 * Where the host is an address, whose it is was never told to the TLS of Node, which then takes a certificate for
 * `localhost`: the one of the server was refused by `sslmode=verify-full`, and that of any other `localhost` taken.
 */
const VERIFIED = changesOf("/postgres/src/connection.js", [
  ["servername: net.isIP(socket.host)", "host: socket.host, servername: net.isIP(socket.host)"],
]);

const hooks = patchModules([...QUEUE, ...LOST, ...LEFT_OVER, ...COPY_END, ...TURNED_AWAY, ...RESERVED, ...VERIFIED]);
// Not by an import statement, which would load it before there are hooks.
const { default: postgres } = await import("postgres");
hooks.deregister();

export { postgres };
