import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { runApart } from "./apart.ts";

/** The account that Postgres runs as where we are root, which it refuses. */
const POSTGRES_ACCOUNT = "postgres";

/** Who runs Postgres. `command` makes a command one of that account. */
export type Account = { uid?: number; gid: number; command: (file: string, args: string[]) => [string, string[]] };

/** Who runs Postgres: ourselves, or, for root, an account that is made where it is missing. */
export async function findAccount(directory: string): Promise<Account> {
  if (process.getuid?.() !== 0) return { gid: 0, command: (file, args) => [file, args] };
  const uid = await askId("-u").catch(async () => {
    await runApart("useradd", ["--system", "--user-group", "--no-create-home", POSTGRES_ACCOUNT]);
    return askId("-u");
  });
  const gid = await askId("-g");

  // A clone below /root or a folder of mktemp is closed to the account: it gets root's right to pass through folders.
  const capabilities = (await isOpenToAll(directory))
    ? []
    : ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"];
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", ...capabilities];
  return { uid, gid, command: (file, args) => ["setpriv", [...identity, file, ...args]] };
}

const askId = async (which: "-u" | "-g") => Number(await runApart("id", [which, POSTGRES_ACCOUNT]));

/** Whether any account can pass through all folders on the way to `directory` and to our own files. */
async function isOpenToAll(directory: string): Promise<boolean> {
  for (let path of [directory, import.meta.dirname]) {
    for (; path !== dirname(path); path = dirname(path)) {
      if (((await stat(path)).mode & 0o001) === 0) return false;
    }
  }
  return true;
}
