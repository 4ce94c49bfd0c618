import { afterAll, beforeAll, expect, test } from "vitest";
import { toBytes } from "../../offchain/bytea.ts";
import { addressOf, createTestApi, type TestApi, ZERO } from "../../test/api.ts";
import { ALICE, APES, BOB, seed } from "../../test/seed.ts";

let t: TestApi;
const BROKER = addressOf(0xfee);

beforeAll(async () => {
  t = await createTestApi();
  await seed(t.sql);
  const sale = {
    timestamp: 1_600_000_020,
    event_type: "sale",
    contract_address: toBytes(APES),
    token_id: "1",
    from_address: toBytes(ALICE),
    to_address: toBytes(BOB),
    quantity: "1",
    transaction_hash: toBytes(ZERO),
    broker: toBytes(BROKER),
    marketplace: "seaport",
    block_number: 20,
  };
  await t.sql`
    insert into onchain_mainnet.token_event ${t.sql([
      {
        ...sale,
        log_index: 1,
        batch_index: 0,
        price: (10n ** 24n).toString(),
        currency_address: toBytes(ZERO),
        price_note: null,
      },
      { ...sale, log_index: 2, batch_index: 0, price: null, currency_address: null, price_note: "barter" },
    ])}
  `;
});
afterAll(() => t.stop());

test("a sale has seller, buyer, price, currency, marketplace and broker, or says why it has no price", async () => {
  const { body } = await t.get(`/v1/events/${APES}/1`);
  const parties = { event_type: "sale", from_address: ALICE, to_address: BOB, marketplace: "seaport", broker: BROKER };
  expect(body.result.slice(0, 2)).toMatchObject([
    { ...parties, price: null, currency_address: null, price_note: "barter" },
    { ...parties, price: "1000000000000000000000000", currency_address: ZERO, price_note: null },
  ]);
});

test("other events have nothing of a sale", async () => {
  const { body } = await t.get(`/v1/events/${APES}/1`);
  const others = body.result.filter(({ event_type }) => event_type !== "sale");
  expect(others.length).toBeGreaterThan(0);
  for (const event of others) expect(event).not.toHaveProperty("price");
});
