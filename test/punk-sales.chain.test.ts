import type { Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withConnection } from "../postgres/pool.ts";
import { toBytes } from "../offchain/bytea.ts";
import { type Call, type Contract, startChain, type TestChain } from "./chain.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";
import { readSales } from "./onchain-tables.ts";
import { compile } from "./solidity.ts";

const { PunkMarket, FirstPunkMarket } = compile("PunkMarket", "FirstPunkMarket");

let chain: TestChain;
let database: TestDatabase;
let market: Contract;
let firstMarket: Contract;
let anne: Hex;
let ben: Hex;
let cleo: Hex;

beforeAll(async () => {
  chain = await startChain();
  database = await createTestDatabase();
  [anne, ben, cleo] = chain.accounts as [Hex, Hex, Hex];
  market = await chain.deploy(PunkMarket);
  firstMarket = await chain.deploy(FirstPunkMarket);
  const call = (from: Hex, name: string, args: unknown[], value = 0n, to = market): Call => ({
    to,
    name,
    args,
    from,
    value,
  });
  await chain.mine(
    ...[1n, 2n, 3n].map((punk) => call(anne, "assign", [anne, punk])),
    call(anne, "assign", [anne, 1n], 0n, firstMarket),
  );
  // For more than was asked, which the market keeps for the seller.
  await chain.mine(call(anne, "offer", [1n, 100n]), call(ben, "buy", [1n], 120n));
  // The higher bid is the one that is taken.
  await chain.mine(call(ben, "enterBid", [2n], 50n), call(cleo, "enterBid", [2n], 70n));
  await chain.mine(call(anne, "acceptBid", [2n]));
  // For nothing, as wrappers do.
  await chain.mine(call(anne, "offer", [3n, 0n]), call(ben, "buy", [3n]));
  await chain.mine(call(anne, "offer", [1n, 30n], 0n, firstMarket), call(ben, "buy", [1n], 30n, firstMarket));
  // One that stands, a bid that stands, and an offer that is over with the punk's transfer.
  await chain.mine(call(ben, "offer", [1n, 900n]), call(cleo, "enterBid", [1n], 80n));
  await chain.mine(call(cleo, "offer", [2n, 500n]), call(cleo, "transferPunk", [anne, 2n]));
});
afterAll(async () => {
  await chain?.stop();
  await database?.drop();
});

test("punks are sold at what was paid, bids at what was bid, and what is free is not sold", async () => {
  const env = { CRYPTOPUNKS_ADDRESSES: `${market.address},${firstMarket.address}` };
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl, env });
  try {
    await indexer.waitUntilLive(await chain.head());
    const sales = await readSales(database.url);
    expect(
      sales.map((sale) => [
        sale.contract_address,
        sale.token_id,
        sale.from_address,
        sale.to_address,
        sale.price,
        sale.is_offer,
      ]),
    ).toEqual([
      [market.address, 1n, anne, ben, 120n, false],
      [market.address, 2n, anne, cleo, 70n, true],
      [firstMarket.address, 1n, anne, ben, 30n, false],
    ]);
    const orders = await withConnection(
      database.url,
      (sql) => sql<{ side: string; token_id: string; amount: string; state: string }[]>`
        select
          side,
          token_id,
          start_amount as amount,
          case when is_open then 'open' when is_cancelled then 'cancelled' else 'filled' end as state
        from onchain_mainnet.trade_order
        where exchange_address = ${toBytes(market.address)}
        order by
          side,
          token_id
      `,
    );
    expect(orders.map(({ side, token_id, amount, state }) => `${side} ${token_id} ${amount} ${state}`)).toEqual([
      "listing 1 100 filled",
      "listing 1 900 open",
      "listing 2 500 cancelled",
      "listing 3 0 filled",
      "offer 1 80 open",
      "offer 2 50 cancelled",
      "offer 2 70 filled",
    ]);
    expect(new Set(sales.map(({ marketplace, batch_index }) => `${marketplace} ${batch_index}`))).toEqual(
      new Set(["cryptopunks 1"]),
    );
  } finally {
    await indexer.stop();
  }
});
