import { once } from "node:events";
import type { Writable } from "node:stream";
import type { Sql } from "postgres";
import { COPY_HEADER, COPY_TRAILER } from "./copy-buffer.ts";

/** Bytes that may wait for Postgres to take them. */
const WAITING_BYTES = 8 * 2 ** 20;

/** A COPY that is under way. */
export type Copy = {
  /** Takes whole rows of `copy-buffer.ts`; waits while Postgres has enough to do. */
  write: (rows: Buffer) => Promise<void>;
  end: () => Promise<void>;
};

/**
 * Begins to fill a table: all columns, in the table's order. The connection is taken until the end.
 *
 * @param table as SQL has it: with its schema, and quotes where it needs them
 */
export async function startCopy(connection: Pick<Sql, "unsafe">, table: string): Promise<Copy> {
  const stream: Writable = await connection.unsafe(`copy ${table} from stdin (format binary)`).writable();
  // An error may come while nobody waits; whoever waits next is told.
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
