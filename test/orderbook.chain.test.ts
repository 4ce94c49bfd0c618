import {
  type Abi,
  type Address,
  createPublicClient,
  type Hex,
  http,
  parseAbi,
  parseEventLogs,
  type PublicClient,
  zeroHash,
} from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CONDUIT_CONTROLLER_ADDRESS, seaportAbi } from "../abis/seaport.ts";
import type { Api } from "../api/server.ts";
import { type DemoChain, startDemoChain } from "../demo/chain.ts";
import { conduitControllerAbi, SEAPORT_ADDRESS, WRAPPED_ETHER_ADDRESS } from "../demo/exchange.ts";
import { openApi } from "./api.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { type Indexer, startIndexer } from "./indexer.ts";

const LIVE_EVENTS = 60;
const ETHER = `0x${"0".repeat(40)}`;

const abi: Abi = parseAbi([
  "function getOrderStatus(bytes32) view returns (bool isValidated, bool isCancelled, uint256 totalFilled, uint256 totalSize)",
  "function getCounter(address) view returns (uint256)",
  "function ownerOf(uint256) view returns (address)",
  "function balanceOf(address, uint256) view returns (uint256)",
  "function isApprovedForAll(address, address) view returns (bool)",
]);

let chain: DemoChain;
let client: PublicClient;
let database: TestDatabase;
let indexer: Indexer;
let api: Api;

beforeAll(async () => {
  chain = await startDemoChain();
  client = createPublicClient({ transport: http(chain.rpcUrl) });
  database = await createTestDatabase();
  indexer = startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl });
  await indexer.waitUntilLive(await head());
  api = await openApi(database.url);
});
afterAll(async () => {
  await api?.stop();
  await indexer?.stop();
  await chain?.stop();
  await database?.drop();
});

const head = async () => Number(await client.getBlockNumber({ cacheTime: 0 }));
type Token = Record<string, string> & { token_id: Hex };

async function getAll(path: string): Promise<Token[]> {
  const tokens: Token[] = [];
  let cursor: string | null = null;
  do {
    const response = await api.app.request(`${path}?limit=30${cursor ? `&cursor=${cursor}` : ""}`);
    expect(response.status).toBe(200);
    const body = (await response.json()) as { cursor: string | null; result: Token[] };
    tokens.push(...body.result);
    cursor = body.cursor;
  } while (cursor !== null);
  return tokens;
}

/** Every listing of one token that the exchange and the token's contract would let through now, by token. */
async function listFillable(now: bigint) {
  const logs = parseEventLogs({
    abi: seaportAbi,
    logs: await client.getLogs({ fromBlock: 0n, address: SEAPORT_ADDRESS }),
  });
  const read = <T>(address: Address, functionName: string, args: unknown[]) =>
    client.readContract({ address, abi, functionName, args }) as Promise<T>;
  const counters = new Map<string, number>();
  const listings = new Map<
    string,
    { hash: Hex; price: bigint; currency: string; quantity: bigint; seller: Address }[]
  >();
  for (const log of logs) {
    if (log.eventName === "CounterIncremented") {
      const key = log.args.offerer.toLowerCase();
      counters.set(key, (counters.get(key) ?? 0) + 1);
    }
    if (log.eventName !== "OrderValidated") continue;
    const order = log.args.orderParameters;
    const [nft] = order.offer;
    if (order.offer.length !== 1 || !nft || nft.itemType < 2) continue;
    const later = logs.filter(
      (other) =>
        other.eventName === "CounterIncremented" &&
        other.args.offerer === order.offerer &&
        (other.blockNumber > log.blockNumber ||
          (other.blockNumber === log.blockNumber && other.logIndex > log.logIndex)),
    );
    const [isValidated, isCancelled, filled, size] = await read<[boolean, boolean, bigint, bigint]>(
      SEAPORT_ADDRESS,
      "getOrderStatus",
      [log.args.orderHash],
    );
    const left = size === 0n ? nft.startAmount : nft.startAmount - (nft.startAmount * filled) / size;
    const held =
      nft.itemType === 2
        ? (await read<Address>(nft.token, "ownerOf", [nft.identifierOrCriteria]).catch(() => ETHER)) === order.offerer
        : (await read<bigint>(nft.token, "balanceOf", [order.offerer, nft.identifierOrCriteria])) >= left;
    const [conduit] = await client.readContract({
      address: CONDUIT_CONTROLLER_ADDRESS,
      abi: conduitControllerAbi,
      functionName: "getConduit",
      args: [order.conduitKey],
    });
    const operator = order.conduitKey === zeroHash ? SEAPORT_ADDRESS : conduit;
    const isApproved = await read<boolean>(nft.token, "isApprovedForAll", [order.offerer, operator]);
    const isOpen = isValidated && !isCancelled && left > 0n && later.length === 0;
    if (!isOpen || !held || !isApproved || order.startTime > now || order.endTime <= now) continue;
    const duration = order.endTime - order.startTime;
    const total = order.consideration.reduce((sum, { startAmount, endAmount }) => {
      const product = startAmount * (order.endTime - now) + endAmount * (now - order.startTime);
      if (startAmount === endAmount) return sum + startAmount;
      return sum + (product === 0n ? 0n : (product - 1n) / duration + 1n);
    }, 0n);
    const key = `${nft.token.toLowerCase()} ${nft.identifierOrCriteria}`;
    listings.set(key, [
      ...(listings.get(key) ?? []),
      {
        hash: log.args.orderHash,
        price: (total + nft.startAmount - 1n) / nft.startAmount,
        currency: order.consideration[0]!.token.toLowerCase(),
        quantity: left,
        seller: order.offerer,
      },
    ]);
  }
  return listings;
}

/** What the Orderbook says of each token, and what it should say, as lines. */
async function compareOrderbook(): Promise<{ said: string[]; expected: string[]; listed: number }> {
  const listings = await listFillable(BigInt(Math.floor(Date.now() / 1000)));
  const [said, expected]: [string[], string[]] = [[], []];
  for (const contract of Object.values(chain.contracts)) {
    const response = await api.app.request(`/orderbook/tokens/collection/${contract}?limit=1`);
    if (response.status === 404) continue;
    for (const token of await getAll(`/orderbook/tokens/collection/${contract}`)) {
      const own = listings.get(`${contract} ${BigInt(token.token_id)}`) ?? [];
      const best = own.toSorted((a, b) => (a.price < b.price ? -1 : a.price > b.price ? 1 : 0))[0];
      const left = own.find(({ hash }) => hash === token.order_hash)?.quantity;
      const price = BigInt(token.current_price || 0);
      // A price that declines falls while we look.
      const isPrice = best ? price <= best.price && price >= (best.price * 999n) / 1000n : token.current_price === "";
      const isCurrency = ["", ETHER, WRAPPED_ETHER_ADDRESS].includes(token.currency_address!);
      const name = `${contract} ${token.token_id}`;
      said.push(`${name} ${token.is_listed} ${best ? token.quantity : ""} ${isPrice} ${isCurrency}`);
      expected.push(`${name} ${best !== undefined} ${best ? left : ""} true true`);
    }
  }
  return { said, expected, listed: said.filter((line) => line.includes(" true ")).length };
}

test("what is listed is what the exchange and the tokens' contracts would let through", async () => {
  const { said, expected, listed } = await compareOrderbook();
  expect(said).toEqual(expected);
  expect(listed).toBeGreaterThan(5);
});

test("and so it is after some live trading", async () => {
  for (let event = 0; event < LIVE_EVENTS; event++) await chain.playEvent();
  await indexer.waitUntilLive(await head());
  const { said, expected } = await compareOrderbook();
  expect(said).toEqual(expected);
});

test("a single token, an owner's tokens and the three paths of that list agree", async () => {
  const contract = chain.contracts.TidalGlyphs;
  const tokens = await getAll(`/orderbook/tokens/collection/${contract}`);
  const token = tokens.find(({ is_listed }) => is_listed === "true") ?? tokens[0]!;
  const single = await api.app.request(`/orderbook/token/${contract}/${token.token_id}`);
  const withoutPrice = (one: Token) => ({ ...one, current_price: "" });
  expect(withoutPrice(((await single.json()) as { result: Token }).result)).toEqual(withoutPrice(token));

  const paths = ["v1/tokens", "tokens", "token"].map((path) => `/orderbook/${path}/${token.current_owner}`);
  const [first, ...others] = await Promise.all(paths.map(getAll));
  for (const other of others) expect(other.map(withoutPrice)).toEqual(first!.map(withoutPrice));
  expect(first!.map(withoutPrice)).toContainEqual(withoutPrice(token));
});

test("offers and history of a token", async () => {
  const contract = chain.contracts.TidalGlyphs;
  const tokens = await getAll(`/orderbook/tokens/collection/${contract}`);
  const events: string[] = [];
  for (const { token_id, has_offer } of tokens) {
    const offers = await api.app.request(`/orderbook/token/${contract}/${token_id}/offers`);
    const { result } = (await offers.json()) as { result: { offers: unknown[] } };
    expect(result.offers.length > 0).toBe(has_offer === "true");
    const history = await api.app.request(`/orderbook/token/${contract}/${token_id}/history`);
    const entries = ((await history.json()) as { result: { history: { event_type: string; order_status: string }[] } })
      .result;
    events.push(...entries.history.map(({ event_type, order_status }) => `${event_type} ${order_status}`));
  }
  expect(new Set(events)).toContain("Listing PLACED");
});
