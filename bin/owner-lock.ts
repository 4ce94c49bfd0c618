import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError } from "../config.ts";
import { createPool } from "../pool.ts";

/** What `npm start` holds while it runs, so that a second one doesn't begin the demo anew under the first. */
const OWNER_LOCK = 4_027_311_002;

/** A killed owner's connection is noticed within moments. */
const ATTEMPTS = 10;
const PAUSE_MS = 500;

/** `retake` is for after the server was gone, and the lock with it. */
export type OwnerLock = { retake: () => Promise<void>; release: () => Promise<void> };

/** Takes the lock of a server. @throws ConfigError that begins with `where` while another `npm start` has it */
export async function takeOwnerLock(serverUrl: string, { where }: { where: string }): Promise<OwnerLock> {
  const sql = createPool(serverUrl, { max: 1, idle_timeout: 0, max_lifetime: null });
  const release = () => sql.end({ timeout: 1 });
  const take = async () => {
    const [row] = await sql<{ acquired: boolean }[]>`select pg_try_advisory_lock(${OWNER_LOCK}) as acquired`;
    return row?.acquired;
  };
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (await take()) return { retake: async () => void (await take()), release };
    await sleep(PAUSE_MS);
  }
  await release();
  throw new ConfigError(`${where} is in use by another npm start. Expected one at a time.`);
}

/** Whether an `npm start` has the lock of this server now. */
export async function isOwned(serverUrl: string): Promise<boolean> {
  const sql = createPool(serverUrl, { max: 1 });
  try {
    const [row] = await sql<{ acquired: boolean }[]>`select pg_try_advisory_xact_lock(${OWNER_LOCK}) as acquired`;
    return !row?.acquired;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
