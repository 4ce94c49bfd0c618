import type { Hex } from "viem";
import { beforeEach, expect, test } from "vitest";
import { hashOf, MAINNET_ID } from "../../test/api.ts";
import { createReadableDatabase, useDatabase } from "../../test/database.ts";
import { EXCHANGE, storeOrder } from "../../test/orders.ts";
import { ALICE } from "../../test/seed.ts";
import type { Call, CallAnswer } from "../chain/call.ts";
import { signatureCall, validationCall } from "../chain/signature.ts";
import { readContractSignatures, type SignaturePlace } from "./contract-signature.ts";

const YES: CallAnswer = { kind: "data", data: Buffer.from("1626ba7e".padEnd(64, "0"), "hex") };
const NO: CallAnswer = { kind: "data", data: Buffer.from("ffffffff".padEnd(64, "0"), "hex") };
const REVERTED: CallAnswer = { kind: "none" };
const FAULT: CallAnswer = { kind: "fault", message: "overloaded" };

const { sql } = await useDatabase(createReadableDatabase, { max: 1 });

beforeEach(() => sql`delete from offchain.signed_order`);
const store = (n: number, more: Record<string, unknown> = {}) =>
  storeOrder(sql, n, { contract_digest: hashOf(n), signature: "0x1234", ...more });
const callOf = (n: number) => signatureCall({ signer: ALICE as Hex, digest: hashOf(n) as Hex, signature: "0x1234" });
/** Asked where the wallet doesn't say that it signed: the same in the exchange's name, and what that knows itself. */
const callsByExchange = (n: number) => [
  { ...callOf(n), from: EXCHANGE },
  validationCall({ exchange: EXCHANGE as Hex, order_hash: hashOf(n) as Hex }),
];

/** Steps through all orders, giving each the same answer. Returns what was asked, and how many steps it took. */
async function walk(answer: CallAnswer): Promise<{ asked: Call[]; steps: number }> {
  const asked: Call[] = [];
  let after: SignaturePlace | undefined;
  let steps = 0;
  do {
    const readCalls = async (calls: Call[]) => {
      asked.push(...calls);
      return calls.map(() => answer);
    };
    after = await readContractSignatures(sql, { chainId: MAINNET_ID, readCalls, after });
    steps += 1;
  } while (after && steps < 10);
  return { asked, steps };
}
const listDisowned = async () =>
  (
    await sql<{ hash: number }[]>`
      select get_byte(order_hash, 31) as hash
      from offchain.signed_order
      where is_disowned
      order by order_hash
    `
  ).map(({ hash }) => hash);

test("an order is its wallet's while that says so, whatever a node that fails says", async () => {
  await store(1);
  for (const [answer, disowned] of [
    [YES, []],
    [FAULT, []],
    [NO, [1]],
    [FAULT, [1]],
    [YES, []],
    [REVERTED, [1]],
    [YES, []],
  ] as const) {
    const isDenied = answer === NO || answer === REVERTED;
    expect((await walk(answer)).asked).toEqual([callOf(1), ...(isDenied ? callsByExchange(1) : [])]);
    expect(await listDisowned()).toEqual(disowned);
  }
});

test("what a key signed, what is over and what is of another chain is not asked about", async () => {
  await store(1, { contract_digest: null });
  await store(2, { end_time: 1_700_000_002 });
  await store(3, { chain_id: MAINNET_ID + 1 });
  await store(4, { end_time: 4_000_000_000, start_time: 3_000_000_000 });
  expect((await walk(NO)).asked).toEqual([callOf(4), ...callsByExchange(4)]);
  expect(await listDisowned()).toEqual([4]);
});

test("a wallet that tells the exchange alone has signed", async () => {
  await store(1);
  const readCalls = async (calls: Call[]) => calls.map(({ from }) => (from === EXCHANGE ? YES : NO));
  await readContractSignatures(sql, { chainId: MAINNET_ID, readCalls, after: undefined });
  expect(await listDisowned()).toEqual([]);
});

test("an order that its exchange noted as signed stands, whatever its wallet says", async () => {
  await store(1);
  const statusOf = (...words: number[]): CallAnswer => ({
    kind: "data",
    data: Buffer.from(words.map((value) => value.toString().padStart(64, "0")).join(""), "hex"),
  });
  const isStatus = ({ data }: Call) => data === callsByExchange(1)[1]!.data;
  for (const [status, disowned] of [
    [statusOf(0, 0, 0, 0), [1]],
    [statusOf(1, 0, 0, 0), []],
    [statusOf(0, 0, 0, 0), [1]],
    [FAULT, [1]],
    [statusOf(1, 0, 0, 0), []],
    [FAULT, []],
  ] as const) {
    const readCalls = async (calls: Call[]) => calls.map((call) => (isStatus(call) ? status : NO));
    await readContractSignatures(sql, { chainId: MAINNET_ID, readCalls, after: undefined });
    expect(await listDisowned()).toEqual(disowned);
  }
});

test("of many more than a step has, each is asked about once", async () => {
  await store(1);
  await sql`
    insert into offchain.signed_order
    select (jsonb_populate_record(one, jsonb_build_object('order_hash', sha256(i::text::bytea)))).*
    from offchain.signed_order as one
    cross join generate_series(2, 1200) as i
  `;
  const { asked, steps } = await walk(NO);
  expect([asked.length / 3, steps]).toEqual([1200, 3]);
  expect(await listDisowned()).toHaveLength(1200);
});
