import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

/** A change to a file of a package. `file` is the end of its path, `find` must be there exactly once. */
export type Patch = { file: string; find: string; replace: string };

/**
 * Patches modules as they are loaded from now on, until the hooks are deregistered. Where a patch doesn't fit, importing
 * the module fails.
 */
export const patchModules = (patches: readonly Patch[]) =>
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const own = url.startsWith("file:") ? patchesOf(fileURLToPath(url), patches) : [];
      if (own.length === 0) return loaded;
      const source = Buffer.from(loaded.source as Uint8Array | string as string).toString();
      return { ...loaded, source: patchSource(source, own) };
    },
  });

/** The patches of a file. */
export const patchesOf = (path: string, patches: readonly Patch[]) => patches.filter(({ file }) => path.endsWith(file));

/** A file's source with its patches. @throws Error where one doesn't fit */
export function patchSource(source: string, patches: readonly Patch[]): string {
  return patches.reduce((text, { file, find, replace }) => {
    if (text.split(find).length !== 2) throw new Error(`${file} is not the one that is patched here`);
    return text.replace(find, () => replace);
  }, source);
}
