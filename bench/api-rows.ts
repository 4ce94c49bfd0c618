import { createSecretKey, type KeyObject } from "node:crypto";
import type { Sql } from "postgres";
import { migrate } from "../offchain/migrate.ts";
import { createOnchainTables } from "../test/database.ts";
import type { BenchPostgres } from "./database.ts";

/** The chain of all rows here. */
export const CHAIN_ID = 1;
/** One contract has all the measured tokens; others are there so that an owner's contracts are a list. */
export const CONTRACT = `0x${"c0".repeat(20)}`;
/** How many these are. */
export const TOKENS = Number(process.env.BENCH_API_TOKENS ?? 1_000_000);
/** Holds a tenth of the tokens. */
export const OWNER = `0x${"aa".repeat(20)}`;
const OTHER_CONTRACTS = 2000;

/** An address as SQL writes it: one that is known, and one that is made of a number. */
export const bytes = (hex: string) => `'\\x${hex.slice(2)}'::bytea`;
export const address = (expression: string) => `decode(lpad(to_hex(${expression}), 40, '0'), 'hex')`;
const words = (expression: string, count: number) =>
  Array.from({ length: count }, (_, n) => `md5((${expression})::text || '${n}')`).join(" || ' ' || ");

/** A database of its own with so many tokens of one contract. `secret`: what its cursors are made with. */
export async function createApiDatabase(
  server: BenchPostgres,
  { tokens }: { tokens: number },
): Promise<{ url: string; sql: Sql; secret: KeyObject }> {
  const { url, sql } = await server.createDatabase();
  await migrate(sql);
  await createOnchainTables(sql, "onchain_mainnet");
  await createOnchainTables(sql, "onchain_testnet");
  await addContracts(sql);
  await addTokens(sql, { count: tokens });
  const [row] = await sql<{ value: Buffer }[]>`select value from offchain.secret where name = 'cursor'`;
  return { url, sql, secret: createSecretKey(row!.value) };
}

/** Adds tokens from 1 on with an event and 1.5 kB of metadata each: 0.65 kB as fetched, 0.85 kB normalized. */
export async function addTokens(sql: Sql, { count }: { count: number }): Promise<void> {
  const ids = `generate_series(1, ${count}) as id`;
  const owner = `case when id % 10 = 0 then ${bytes(OWNER)} else ${address("100000 + id % 20000")} end`;
  await sql.unsafe(`
    insert into onchain_mainnet.token
    select ${bytes(CONTRACT)}, id, 'ERC721', ${owner}, ${address("100000 + id % 20000")}, id, 1600000000 + id,
      sha256(id::text::bytea)
    from ${ids};
    insert into onchain_mainnet.token_event
    select id, id % 300, 0, 1600000000 + id, 'mint', ${bytes(CONTRACT)}, id, ${address("0")}, ${owner}, 1,
      sha256(id::text::bytea)
    from ${ids};
    insert into offchain.token_metadata
      (chain_id, contract_address, token_id, token_uri, raw_json, normalized, metadata_updated_at, awaiting_metadata_update)
    select ${CHAIN_ID}, ${bytes(CONTRACT)}, id, 'ipfs://bafybenchmark/' || id,
      to_json('{"name":"Token #' || id || '","description":"' || ${words("id", 11)} || '","image":"ipfs://bafybenchmark/' || id || '.png",'
        || '"attributes":[{"trait_type":"Fur","value":"' || md5(id::text) || '"},{"trait_type":"Level","value":' || id || '}]}')::text,
      '{"image_mime_type":"image/png","image_key":"","image":"ipfs://bafybenchmark/' || id || '.png","image_data":"","external_url":"",'
        || '"description":"' || ${words("id", 11)} || '","name":"Token #' || id || '","attributes":['
        || '{"display_type":null,"trait_type":"Fur","value":"' || md5(id::text) || '"},'
        || '{"display_type":null,"trait_type":"Level","value":"' || id || '"}],"properties":null,"background_color":"",'
        || '"animation_url":"","animation_key":"","animation_mime_type":"","youtube_url":""}',
      1700000000, false
    from ${ids};
  `);
  await sql.unsafe("vacuum analyze onchain_mainnet.token");
  await sql.unsafe("vacuum analyze onchain_mainnet.token_event");
  await sql.unsafe("vacuum analyze offchain.token_metadata");
}

/** The contracts, and a token of each that `OWNER` holds. */
export async function addContracts(sql: Sql): Promise<void> {
  const others = `generate_series(1, ${OTHER_CONTRACTS}) as n`;
  await sql.unsafe(`
    insert into offchain.network (name, chain_id, state, reported_at)
    values ('mainnet', ${CHAIN_ID}, 'live', now() + interval '1 day');
    insert into onchain_mainnet.contract values (${bytes(CONTRACT)}, 'ERC721', false, 1, 0);
    insert into onchain_mainnet.contract
    select ${address("5000000 + n")}, 'ERC721', false, 1 + n, 0 from ${others};
    insert into onchain_mainnet.token
    select ${address("5000000 + n")}, 1, 'ERC721', ${bytes(OWNER)}, ${bytes(OWNER)}, 1, 1600000000, sha256('1')
    from ${others};
    insert into offchain.contract_metadata (chain_id, contract_address, name, symbol)
    select ${CHAIN_ID}, contract_address, 'Contract ' || block_number, 'C' from onchain_mainnet.contract;
    analyze onchain_mainnet.contract;
    analyze offchain.contract_metadata;
  `);
}
