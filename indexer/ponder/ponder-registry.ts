import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const SCHEMA = JSON.stringify(pathToFileURL(join(import.meta.dirname, "../../ponder.schema.ts")).href);

/** The modules that Ponder's Vite plugin makes up for indexing functions, as it writes them. */
const SOURCES: Record<string, string> = {
  "ponder:registry": "export const ponder = { fns: [], on(name, fn) { this.fns.push({ name, fn }); } };",
  "ponder:schema": `export * from ${SCHEMA};`,
};

registerHooks({
  resolve: (specifier, context, next) =>
    specifier in SOURCES ? { url: specifier, format: "module", shortCircuit: true } : next(specifier, context),
  load: (url, context, next) =>
    url in SOURCES ? { source: SOURCES[url]!, format: "module", shortCircuit: true } : next(url, context),
});
