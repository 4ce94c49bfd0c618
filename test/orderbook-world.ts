import { setTimeout as sleep } from "node:timers/promises";
import { ItemType } from "@opensea/seaport-js/lib/constants.js";
import type { CreateOrderInput, OrderWithCounter } from "@opensea/seaport-js/lib/types.js";
import { type Abi, type Address, encodeFunctionData, type Hex, numberToHex, parseAbi } from "viem";
import type { Api } from "../api/server.ts";
import { startDemoChain } from "../demo/chain.ts";
import { SEAPORT_ADDRESS, WRAPPED_ETHER_ADDRESS } from "../demo/exchange.ts";
import { createMarket, type Market } from "../demo/market.ts";
import { createMiner, type DemoTransaction, type Miner } from "../demo/miner.ts";
import { createRandom } from "../demo/random.ts";
import { createWorld } from "../demo/world.ts";
import { openApi } from "./api.ts";
import { createTestDatabase } from "./database.ts";
import { startIndexer } from "./indexer.ts";

const tokenAbi: Abi = parseAbi([
  "function mint(address to, uint256 tokenId)",
  "function mint(address to, uint256 id, uint256 amount)",
  "function setApprovalForAll(address operator, bool approved)",
  "function approve(address to, uint256 tokenId)",
  "function transferFrom(address from, address to, uint256 tokenId)",
  "function safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data)",
  "function transfer(address to, uint256 amount) returns (bool)",
  "function deposit() payable",
]);
const seaportAbi = parseAbi([
  "function getOrderStatus(bytes32) view returns (bool isValidated, bool isCancelled, uint256 totalFilled, uint256 totalSize)",
  "function getCounter(address) view returns (uint256)",
]);

/** The demo chain with Seaport on it, its own client, an indexer, and the API beside it: real all through. */
export async function startOrderbookWorld() {
  await using started = new AsyncDisposableStack();
  const chain = await startDemoChain();
  started.defer(chain.stop);
  let miner: Miner = createMiner(chain.rpcUrl);
  const world = createWorld({ random: createRandom(1), accounts: await miner.client.getAddresses() });
  const market: Market = await createMarket(miner, { rpcUrl: chain.rpcUrl, world, contracts: chain.contracts });
  started.defer(market.stop);
  const database = await createTestDatabase();
  started.defer(database.drop);
  const indexer = startIndexer({ databaseUrl: database.url, rpcUrl: chain.rpcUrl });
  started.defer(indexer.stop);
  const [seller, buyer, other] = world.collectors.map((account) => account.toLowerCase()) as [
    Address,
    Address,
    Address,
  ];
  const { client } = miner;
  await indexer.waitUntilLive(await head());
  const { databases, ...api } = await openApi(database.url, { env: { MAINNET_RPC_URL: chain.rpcUrl } });
  started.defer(api.stop);
  const stack = started.move();

  async function head(): Promise<number> {
    return Number(await client.getBlockNumber({ cacheTime: 0 }));
  }
  const now = () => Math.floor(Date.now() / 1000);
  /** The API's own look at the network comes at intervals: it is asked for, so that nothing has to be waited for. */
  const catchUp = async () => {
    await indexer.waitUntilLive(await head());
    await api.refresh();
  };
  const getResult = async (path: string) => {
    const response = await api.app.request(`/orderbook/${path}`);
    return ((await response.json()) as { result: Record<string, string> & { order_hash: Hex } }).result;
  };

  return {
    chain,
    market,
    database,
    databases,
    indexer,
    api,
    client,
    seller,
    buyer,
    other,
    now,
    head,
    catchUp,
    stop: () => stack.disposeAsync(),
    /** Units are of a contract of units, single tokens of one of single tokens. */
    single: chain.contracts.LighthouseLetters,
    units: chain.contracts.MeadowSeeds,
    call: (from: Address, to: Address, functionName: string, args: unknown[], value?: bigint): DemoTransaction => ({
      from,
      to,
      data: encodeFunctionData({ abi: tokenAbi, functionName, args }),
      value,
    }),
    /** One block with these, at this second or at a later one, and all that the API says follows it. */
    mine: async (transactions: DemoTransaction[], { at = now() }: { at?: number } = {}) => {
      const receipts = await miner.mineBlock({ transactions, timestamp: BigInt(at) });
      await catchUp();
      return receipts;
    },
    /** The chain was taken back: nonces are counted anew. */
    startOver: () => (miner = createMiner(chain.rpcUrl)),
    /** A listing of one token, or of units of one, as makers write it. */
    inputOf: (maker: Address, offer: CreateOrderInput["offer"], more: Partial<CreateOrderInput> = {}) => ({
      offer,
      consideration: [{ amount: "1000000000000000", recipient: maker }],
      fees: [{ recipient: other, basisPoints: 250 }],
      startTime: now() - 100,
      endTime: now() + 100_000,
      ...more,
    }),
    single721: (tokenId: bigint): CreateOrderInput["offer"] => [
      { itemType: ItemType.ERC721, token: chain.contracts.LighthouseLetters, identifier: tokenId.toString() },
    ],
    units1155: (tokenId: bigint, amount: bigint): CreateOrderInput["offer"] => [
      {
        itemType: ItemType.ERC1155,
        token: chain.contracts.MeadowSeeds,
        identifier: tokenId.toString(),
        amount: amount.toString(),
      },
    ],
    sign: async (input: CreateOrderInput, maker: Address): Promise<OrderWithCounter> =>
      (await market.seaport.createOrder(input, maker)).executeAllActions(),
    post: async (order: unknown) => {
      const response = await sendOrder(api, order);
      const body = (await response.json()) as { result?: { order_hash: Hex }; message?: string };
      return { status: response.status, ...body };
    },
    /** What the Orderbook says of a token. */
    token: (contract: Address, tokenId: bigint) => getResult(`token/${contract}/${tokenId}`),
    /** Whether the exchange itself would fill the order in the next block, all of it that is left. */
    couldBeFilled: async (
      { parameters, signature }: OrderWithCounter,
      { taker = buyer, exchange = SEAPORT_ADDRESS }: { taker?: Address; exchange?: Address } = {},
    ): Promise<boolean> => {
      const value = parameters.consideration
        .filter(({ itemType }) => (itemType as number) === 0)
        .reduce((sum, { startAmount, endAmount }) => sum + maxOf(BigInt(startAmount), BigInt(endAmount)), 0n);
      const data = market.seaport.contract.interface.encodeFunctionData("fulfillOrder", [
        { parameters, signature },
        `0x${"0".repeat(64)}`,
      ]) as Hex;
      return client.call({ account: taker, to: exchange, data, value, blockTag: "pending" }).then(
        () => true,
        () => false,
      );
    },
    getOrderStatus: (hash: Hex) =>
      client.readContract({ address: SEAPORT_ADDRESS, abi: seaportAbi, functionName: "getOrderStatus", args: [hash] }),
    getCounter: (maker: Address) =>
      client.readContract({ address: SEAPORT_ADDRESS, abi: seaportAbi, functionName: "getCounter", args: [maker] }),
    wrap: (from: Address, amount: bigint): DemoTransaction => ({
      from,
      to: WRAPPED_ETHER_ADDRESS,
      data: encodeFunctionData({ abi: tokenAbi, functionName: "deposit", args: [] }),
      value: amount,
    }),
  };
}

/** Sends an order, and again where the API had no patience with its node: what that says is a fact, not a time. */
export async function sendOrder({ app }: Pick<Api, "app">, order: unknown): Promise<Response> {
  for (;;) {
    const response = await app.request("/orderbook/orders", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(order, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value)),
    });
    if (response.status !== 503) return response;
    await sleep(Number(response.headers.get("retry-after")) * 1000);
  }
}

/** Seaport's client makes compact signatures, which few wallets take. */
export function toLong(compact: string): Hex {
  const [r, vs] = [compact.slice(0, 66), BigInt(`0x${compact.slice(66)}`)];
  const s = numberToHex(vs & (2n ** 255n - 1n), { size: 32 });
  return `${r}${s.slice(2)}${vs >> 255n ? "1c" : "1b"}` as Hex;
}

const maxOf = (a: bigint, b: bigint) => (a > b ? a : b);

/** What `startOrderbookWorld` gives. */
export type OrderbookWorld = Awaited<ReturnType<typeof startOrderbookWorld>>;
