import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError } from "../config.ts";
import { createPool, withConnection } from "../postgres/pool.ts";

/** The lock that `npm start` holds while it runs, so that a second one doesn't begin the demo anew under the first. */
const OWNER_LOCK = 4_027_311_002;

/** The name of the session that holds it. */
export const OWNER_SESSION = "npm start";

/** How often, and how far apart, the lock is tried: that a killed owner is gone is noticed within moments. */
const ATTEMPTS = 10;
const PAUSE_MS = 500;

const CHECK_EVERY_MS = 2_000;

/**
 * Takes the lock of a database until what is returned is called, and again where it was lost with its session. `onLost`:
 * another `npm start` was faster.
 *
 * @throws ConfigError that begins with `where` while another one has it
 */
export async function takeOwnerLock(
  databaseUrl: string,
  { where, onLost }: { where: string; onLost: (line: string) => void },
): Promise<() => Promise<void>> {
  const connection = { application_name: OWNER_SESSION };
  const sql = createPool(databaseUrl, { max: 1, idle_timeout: 0, max_lifetime: null, connection });
  const released = new AbortController();
  const { signal } = released;
  const release = async () => {
    released.abort();
    await sql.end({ timeout: 1 });
  };
  // Also succeeds in the session that has the lock already.
  const take = async () => {
    const [row] = await sql<{ acquired: boolean }[]>`select pg_try_advisory_lock(${OWNER_LOCK}) as acquired`;
    return row?.acquired;
  };
  const keep = async () => {
    while (!signal.aborted) {
      await sleep(CHECK_EVERY_MS, undefined, { signal }).catch(() => {});
      // While nobody can be asked, nobody else can take it.
      const isOurs = await take().catch(() => true);
      if (!isOurs && !signal.aborted) return onLost(`${where} was taken over by another npm start; this one ends.`);
    }
  };
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (await take()) {
      void keep();
      return release;
    }
    await sleep(PAUSE_MS);
  }
  await release();
  throw new ConfigError(`${where} is in use by another npm start. Expected one at a time.`);
}

/** Whether an `npm start` has the lock of this database now. The lock isn't tried: that would keep others from it. */
export function isOwned(databaseUrl: string): Promise<boolean> {
  return withConnection(databaseUrl, async (sql) => {
    const rows = await sql`
      select
      from pg_locks l
      join pg_database d on d.oid = l.database
      where l.locktype = 'advisory'
        and l.objid::bigint = ${OWNER_LOCK}
        and l.granted
        and d.datname = current_database()
    `;
    return rows.length > 0;
  });
}
