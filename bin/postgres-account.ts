import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { runDetached } from "./detached-command.ts";

/** The account that Postgres runs as where we are root, which it refuses, and has no data yet. */
const POSTGRES_ACCOUNT = "postgres";

/** Who runs Postgres. `command` makes a command one of that account. */
export type Account = { uid?: number; gid: number; command: (file: string, args: string[]) => [string, string[]] };

/**
 * Who runs the Postgres whose data are in `data`: ourselves, or, for root, their owner, as the user of a service beside
 * which root runs a command. Where there are none yet it is an account that is made where it is missing.
 */
export async function findAccount(data: string): Promise<Account> {
  if (process.getuid?.() !== 0) return { gid: 0, command: (file, args) => [file, args] };
  const { uid, gid } = (await findOwner(data)) ?? (await ensureAccount());

  // A clone below /root or a folder of mktemp is closed to the account: it gets root's right to pass through folders.
  const capabilities = (await isOpenToAll(dirname(data)))
    ? []
    : ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"];
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", ...capabilities];
  return { uid, gid, command: (file, args) => ["setpriv", [...identity, file, ...args]] };
}

/** Undefined where there is nothing, or where it is root's. */
async function findOwner(data: string): Promise<{ uid: number; gid: number } | undefined> {
  const found = await stat(data).catch(() => undefined);
  return found?.uid ? found : undefined;
}

async function ensureAccount(): Promise<{ uid: number; gid: number }> {
  const uid = await askId("-u").catch(async () => {
    await runDetached("useradd", ["--system", "--user-group", "--no-create-home", POSTGRES_ACCOUNT]);
    return askId("-u");
  });
  return { uid, gid: await askId("-g") };
}

const askId = async (which: "-u" | "-g") => Number(await runDetached("id", [which, POSTGRES_ACCOUNT]));

/** Whether any account can pass through all folders on the way to `directory` and to our own files. */
async function isOpenToAll(directory: string): Promise<boolean> {
  for (let path of [directory, import.meta.dirname]) {
    for (; path !== dirname(path); path = dirname(path)) {
      if (((await stat(path)).mode & 0o001) === 0) return false;
    }
  }
  return true;
}
