import { randomBytes } from "node:crypto";
import type { Sql } from "postgres";

const REPORT_MS = 2000;

type WorkerReport = {
  /** Counts a token that was tried. */
  count: () => void;
  stop: () => Promise<void>;
};

/** Reports every two seconds what this process does, for /status. */
export function startWorkerReport(sql: Sql): WorkerReport {
  const workerId = `${process.pid}-${randomBytes(4).toString("hex")}`;
  let fetches = 0;
  let reported = { fetches: 0, at: performance.now() };

  async function report(): Promise<void> {
    const now = performance.now();
    const rate = ((fetches - reported.fetches) * 1000) / Math.max(now - reported.at, 1);
    reported = { fetches, at: now };
    await sql`
      insert into offchain.metadata_worker (worker_id, fetches_per_second, reported_at)
      values (${workerId}, ${rate}, now())
      on conflict (worker_id) do update set
        fetches_per_second = excluded.fetches_per_second,
        reported_at = now()
    `;
    await sql`delete from offchain.metadata_worker where reported_at < now() - interval '1 hour'`;
  }

  // A report that fails is made up for by the next one.
  const timer = setInterval(() => void report().catch(() => {}), REPORT_MS);
  return {
    count: () => void fetches++,
    stop: async () => {
      clearInterval(timer);
      await sql`delete from offchain.metadata_worker where worker_id = ${workerId}`.catch(() => {});
    },
  };
}
