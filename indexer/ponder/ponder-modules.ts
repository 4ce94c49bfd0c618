import { statSync } from "node:fs";
import { registerHooks } from "node:module";
import { extname } from "node:path";

/**
 * Module formats by folder and file ending. Node reads a package.json anew for each module to learn its format, and Ponder
 * imports 1,100 of them: with this it starts in 1.8 s of CPU instead of 2.8 s.
 */
const formats = new Map<string, string>();

registerHooks({
  resolve(specifier, context, nextResolve) {
    const isPath = /^\.\.?\//.test(specifier) && context.parentURL?.startsWith("file:");
    if (!isPath) return nextResolve(specifier, context);
    const target = new URL(specifier, context.parentURL);
    const url = target.href;
    const kind = url.slice(0, url.lastIndexOf("/")) + extname(url);
    const format = formats.get(kind);
    // What is missing, and what is a folder, is left to Node.
    const isFile = format !== undefined && statSync(target, { throwIfNoEntry: false })?.isFile();
    if (isFile) return { url, format, shortCircuit: true };
    const resolved = nextResolve(specifier, context);
    // Not for links and shortened names, which lead to another folder.
    if (resolved.url === url && resolved.format) formats.set(kind, resolved.format);
    return resolved;
  },
});
