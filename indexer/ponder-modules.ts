import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import { extname } from "node:path";

/**
 * Node looks for a module's package.json, reads and copies it, to learn whether the module is CommonJS. Ponder imports
 * 3300 of them, in 1.8 s, and in 1.2 s where each folder is looked at once. The files of a folder that end
 * alike are of one kind.
 */
const formats = new Map<string, string>();

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (context.parentURL === undefined || !/^\.\.?\//.test(specifier)) return nextResolve(specifier, context);
    const target = new URL(specifier, context.parentURL);
    const url = target.href;
    const kind = url.slice(0, url.lastIndexOf("/")) + extname(url);
    const format = formats.get(kind);
    // Node says best what is missing.
    if (format !== undefined && existsSync(target)) return { url, format, shortCircuit: true };
    const resolved = nextResolve(specifier, context);
    // A link, or a name that isn't whole, is somewhere else.
    if (resolved.url === url && resolved.format) formats.set(kind, resolved.format);
    return resolved;
  },
});
