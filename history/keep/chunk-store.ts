import { createHash } from "node:crypto";
import type { Sql } from "postgres";
import type { Chain, Chunk } from "../chain-log.ts";
import { ChunkError, decodeChunk, encodeChunk } from "./chunk.ts";
import type { LogFilter } from "../wanted.ts";

/** What is kept of a chain for one filter. */
export type KeptFilter = { filterId: number; filter: LogFilter; ranges: KeptRange[] };

/** A kept chunk without its logs. */
type KeptRange = { fromBlock: number; toBlock: number; logCount: number; lastBlockHash: string };

/** All that is kept of a chain. Ranges are in the order of their blocks. */
export async function listKept(sql: Sql, { chainId, genesisHash }: Chain): Promise<KeptFilter[]> {
  const filters = await sql<{ filter_id: number; content: string }[]>`
    select
      filter_id,
      content
    from offchain.kept_log_filter
    where chain_id = ${chainId}
      and genesis_hash = ${genesisHash}
    order by filter_id
  `;
  const kept: KeptFilter[] = [];
  for (const { filter_id, content } of filters) {
    const ranges = await sql<KeptRange[]>`
      select
        from_block::float8 as "fromBlock",
        to_block::float8 as "toBlock",
        log_count as "logCount",
        last_block_hash as "lastBlockHash"
      from offchain.kept_log_chunk
      where filter_id = ${filter_id}
      order by from_block
    `;
    kept.push({ filterId: filter_id, filter: JSON.parse(content) as LogFilter, ranges });
  }
  return kept;
}

/** The id of a filter, under which its chunks are kept. It is added if it isn't there. */
export async function ensureFilter(sql: Sql, { chainId, genesisHash }: Chain, filter: LogFilter): Promise<number> {
  const content = JSON.stringify(filter);
  const digest = createHash("sha256").update(content).digest();
  // "do update" with a change that changes nothing, so that the row is returned in any case.
  const [row] = await sql<{ filter_id: number }[]>`
    insert into offchain.kept_log_filter (chain_id, genesis_hash, digest, content)
    values (${chainId}, ${genesisHash}, ${digest}, ${content})
    on conflict (chain_id, genesis_hash, digest) do update set content = excluded.content
    returning filter_id
  `;
  return row!.filter_id;
}

/** Keeps a chunk. Returns how many bytes it takes in the database. */
export async function keepChunk(
  sql: Sql,
  { filterId, chunk, lastBlockHash }: { filterId: number; chunk: Chunk; lastBlockHash: string },
): Promise<number> {
  const content = encodeChunk(chunk);
  const { fromBlock, toBlock, logs } = chunk;
  await sql`
    insert into offchain.kept_log_chunk
      (filter_id, from_block, to_block, last_block_hash, log_count, checksum, content)
    values (
      ${filterId},
      ${fromBlock},
      ${toBlock},
      ${lastBlockHash},
      ${logs.count},
      ${checksumOf(content)},
      ${content}
    )
    on conflict (filter_id, from_block) do update set
      to_block = excluded.to_block,
      last_block_hash = excluded.last_block_hash,
      log_count = excluded.log_count,
      checksum = excluded.checksum,
      content = excluded.content
  `;
  return content.length;
}

/** Reads a kept chunk. Undefined where it is gone or damaged. A damaged one is deleted. */
export async function readChunk(
  sql: Sql,
  { filterId, fromBlock, toBlock, logCount }: KeptRange & { filterId: number },
): Promise<Chunk | undefined> {
  const [row] = await sql<{ checksum: Buffer; content: Buffer }[]>`
    select
      checksum,
      content
    from offchain.kept_log_chunk
    where filter_id = ${filterId}
      and from_block = ${fromBlock}
  `;
  const chunk = row && decodeWhole(row);
  if (chunk && chunk.fromBlock === fromBlock && chunk.toBlock === toBlock && chunk.logs.count === logCount)
    return chunk;
  await sql`delete from offchain.kept_log_chunk where filter_id = ${filterId} and from_block = ${fromBlock}`;
  return undefined;
}

/** Deletes a filter's chunks from a block on. */
export async function deleteChunksFrom(
  sql: Sql,
  { filterId, fromBlock }: { filterId: number; fromBlock: number },
): Promise<void> {
  await sql`delete from offchain.kept_log_chunk where filter_id = ${filterId} and from_block >= ${fromBlock}`;
}

/** Deletes all that is kept of a chain. */
export async function dropKeptChain(sql: Sql, { chainId }: { chainId: number }): Promise<void> {
  await sql`delete from offchain.kept_log_filter where chain_id = ${chainId}`;
}

function decodeWhole({ checksum, content }: { checksum: Buffer; content: Buffer }): Chunk | undefined {
  if (!checksumOf(content).equals(checksum)) return undefined;
  try {
    return decodeChunk(content);
  } catch (error) {
    if (error instanceof ChunkError) return undefined;
    throw error;
  }
}

function checksumOf(content: Buffer): Buffer {
  return createHash("sha256").update(content).digest();
}
