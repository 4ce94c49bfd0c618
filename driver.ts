import { patchModules } from "./module-patch.ts";

/**
 * Of a queue that never runs empty the driver (3.4.9) keeps the place of all that ever was in it, and looks through them
 * with each statement: that of idle connections, wherever more are open than are used. After 400,000 statements one took
 * 165 µs of CPU, 42 without that, and so on for ever.
 */
const PATCH = {
  file: "/postgres/src/queue.js",
  find: "xs[index - 1] = undefined",
  replace: "xs[index - 1] = undefined; if (index >= 32 && index * 2 >= xs.length) { xs = xs.slice(index); index = 0 }",
};

const hooks = patchModules([PATCH]);
// Imported by a statement, it would be loaded before there are hooks.
const { default: postgres } = await import("postgres");
hooks.deregister();

export { postgres };
