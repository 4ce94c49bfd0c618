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
      const own = url.startsWith("file:") ? patches.filter(({ file }) => fileURLToPath(url).endsWith(file)) : [];
      if (own.length === 0) return loaded;
      let source = Buffer.from(loaded.source as Uint8Array | string as string).toString();
      for (const { file, find, replace } of own) {
        if (source.split(find).length !== 2) throw new Error(`${file} is not the one that is patched here`);
        source = source.replace(find, () => replace);
      }
      return { ...loaded, source };
    },
  });
