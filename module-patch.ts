import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

/** A change to a file of a package, which is named by the end of its path. */
export type Patch = { file: string; find: string; replace: string };

/**
 * Changes modules as they are loaded from now on, until the hooks are taken back.
 *
 * @throws Error from the import of a version in which the place looks otherwise
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

/** A file's source with its patches. @throws Error where a place looks otherwise */
export function patchSource(source: string, patches: readonly Patch[]): string {
  return patches.reduce((text, { file, find, replace }) => {
    if (text.split(find).length !== 2) throw new Error(`${file} is not the one that is patched here`);
    return text.replace(find, () => replace);
  }, source);
}
