import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../config.ts";
import { addressOf, createTestApi, type TestApi } from "../../test/api.ts";
import { ORDERS_PER_MINUTE } from "./orderbook-routes.ts";

let t: TestApi;

beforeAll(async () => {
  // No node listens there, so these orders are refused without asking one.
  const { networks } = readConfig({ MAINNET_RPC_URL: "http://127.0.0.1:1" });
  t = await createTestApi({ config: { networks } });
});
afterAll(() => t.stop());

const item = (itemType: number, token: string, identifierOrCriteria: string) => ({
  itemType,
  token,
  identifierOrCriteria,
  startAmount: "1",
  endAmount: "1",
});
/** Sends an offer for a token that doesn't exist, from this client address. */
const send = async (address: string) =>
  t.api.app.request(
    "/orderbook/orders",
    {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        parameters: {
          offerer: addressOf(1),
          zone: addressOf(0),
          offer: [item(1, addressOf(2), "0")],
          consideration: [{ ...item(2, addressOf(3), "7"), recipient: addressOf(1) }],
          orderType: 0,
          startTime: "0",
          endTime: "9999999999",
          zoneHash: `0x${"0".repeat(64)}`,
          salt: "0",
          conduitKey: `0x${"0".repeat(64)}`,
          counter: "0",
        },
        signature: `0x${"11".repeat(64)}`,
      }),
    },
    { incoming: { socket: { remoteAddress: address } } },
  );

test("an address sends so many orders a minute, and no more", async () => {
  const sent: Response[] = [];
  // In groups: a request that waits too long for the store is counted in the process's memory only.
  while (sent.length < ORDERS_PER_MINUTE + 5)
    sent.push(...(await Promise.all(Array.from({ length: 55 }, () => send("192.0.2.1")))));
  const counted = [400, 429].map((wanted) => sent.filter(({ status }) => status === wanted).length);
  expect(counted).toEqual([ORDERS_PER_MINUTE, 5]);
  const refused = await send("192.0.2.1");
  expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
  expect(await refused.json()).toMatchObject({
    message: expect.stringMatching(/^Too many orders for this address\. Expected at most 600 a minute/) as string,
  });
  const other = await send("192.0.2.2");
  expect(await other.json()).toMatchObject({ message: `Token 7 of contract ${addressOf(3)} is unknown.` });
});
