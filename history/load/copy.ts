import { once } from "node:events";
import type { Writable } from "node:stream";
import type { Sql } from "postgres";
import { COPY_HEADER, COPY_TRAILER } from "./copy-buffer.ts";

/** Most bytes that are buffered before `write` waits for Postgres. */
const WAITING_BYTES = 8 * 2 ** 20;

/** A COPY that is under way. */
export type Copy = {
  /** Writes whole rows made by `copy-buffer.ts`. Waits while too many bytes are buffered. */
  write: (rows: Buffer) => Promise<void>;
  end: () => Promise<void>;
};

/**
 * Begins a COPY into a table: all columns, in the table's order. The connection is in use until `end`.
 *
 * @param table as written in SQL: with its schema, and quotes where they are needed
 */
export async function startCopy(connection: Pick<Sql, "unsafe">, table: string): Promise<Copy> {
  const stream: Writable = await connection.unsafe(`copy ${table} from stdin (format binary)`).writable();
  // An error may come while nothing is awaited. The next call of `write` or `end` throws it.
  const finished = once(stream, "finish");
  finished.catch(() => {});
  stream.write(COPY_HEADER);
  return {
    write: async (rows) => {
      if (rows.length === 0) return;
      stream.write(rows);
      if (stream.writableLength > WAITING_BYTES) await Promise.race([once(stream, "drain"), finished]);
    },
    end: async () => {
      stream.end(COPY_TRAILER);
      await finished;
    },
  };
}

/** Fills a table in one go. */
export async function copyInto(
  connection: Pick<Sql, "unsafe">,
  table: string,
  fill: (write: Copy["write"]) => Promise<void>,
): Promise<void> {
  const copy = await startCopy(connection, table);
  await fill(copy.write);
  await copy.end();
}
