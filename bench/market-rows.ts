import type { Sql } from "postgres";
import { address, bytes, CHAIN_ID, CONTRACT } from "./api-rows.ts";

const EXCHANGE = "0x0000000000000068f116a894984e2db1123eb395";
const CONDUIT = address("700001");
/** What a token costs: no two neighbours the same. */
const PRICE = "10000000000000::numeric * (1 + id * 7919 % 1000003)";

/** Lists every token of the measured contract by who holds it: half on the chain, half signed; one in ten has an offer. */
export async function addListings(sql: Sql): Promise<void> {
  const terms = (hash: string, side: string, maker: string, tokenId: string) => `
    ${bytes(EXCHANGE)}, sha256('${hash}' || id::text::bytea), '${side}', ${maker}, ${bytes(CONTRACT)}, ${tokenId},
    'ERC721', 1, ${address("0")}, ${PRICE}, ${PRICE}, ${PRICE}, 1600000000, 9007199254740991, 0, ${CONDUIT},
    ${address("700002")}, 1600000000 + id`;
  const columns = `
    exchange_address, order_hash, side, maker, contract_address, token_id, token_standard, quantity, currency_address,
    start_amount, end_amount, unit_price, start_time, end_time, counter, operator, broker, placed_timestamp`;
  const tokens = `
    (select owner, token_id::bigint as id from onchain_mainnet.token where contract_address = ${bytes(CONTRACT)})
      as token`;
  await sql.unsafe(`
    insert into onchain_mainnet.trade_order
      (${columns}, marketplace, is_open, is_cancelled, filled, updated_timestamp)
    select ${terms("listing", "listing", "owner", "id")}, 'seaport', true, false, 0, 1600000000 + id
    from ${tokens}
    where id % 2 = 0;
    insert into onchain_mainnet.trade_order
      (${columns}, marketplace, is_open, is_cancelled, filled, updated_timestamp)
    select ${terms("offer", "offer", address("800000 + id % 1000"), "id")}, 'seaport', true, false, 0, 1600000000 + id
    from ${tokens}
    where id % 10 = 0;
    insert into offchain.signed_order (chain_id, ${columns}, parameters, signature)
    select ${CHAIN_ID}, ${terms("signed", "listing", "owner", "id")}, '{}', '\\x00'
    from ${tokens}
    where id % 2 = 1;
    insert into onchain_mainnet.approval
    select row_number() over (), 0, ${bytes(CONTRACT)}, owner, ${CONDUIT}, true
    from (select distinct owner from onchain_mainnet.token where contract_address = ${bytes(CONTRACT)}) as held;
    insert into onchain_mainnet.order_counter
    select ${bytes(EXCHANGE)}, ${address("900000 + n")}, n from generate_series(1, 1000) as n;
    insert into offchain.verified_collection (contract_address) values (${bytes(CONTRACT)});
  `);
  for (const table of ["onchain_mainnet.trade_order", "offchain.signed_order", "onchain_mainnet.approval"])
    await sql.unsafe(`vacuum analyze ${table}`);
}
