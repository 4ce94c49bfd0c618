import { Seaport } from "@opensea/seaport-js";
import type { CreateOrderInput, OrderWithCounter } from "@opensea/seaport-js/lib/types.js";
import type { TransactionMethods } from "@opensea/seaport-js/lib/utils/usecase.js";
import type { JsonRpcProvider as Provider } from "ethers" with { "resolution-mode": "require" };
import { createRequire } from "node:module";
import { type Address, concat, encodeFunctionData, type Hex, numberToHex, parseEther } from "viem";
import { CONDUIT_CONTROLLER_ADDRESS } from "../abis/seaport.ts";
import { DEMO_CHAIN_ID } from "./anvil.ts";
import type { NftContract } from "./artifacts.ts";
import { conduitControllerAbi, SEAPORT_ADDRESS } from "./exchange.ts";
import type { DemoTransaction, Miner } from "./miner.ts";
import type { Holding, World } from "./world.ts";

/** From the client's own copy of ethers, which is the CommonJS one. */
const { JsonRpcProvider } = createRequire(import.meta.url)("ethers") as { JsonRpcProvider: typeof Provider };

/** What is traded one by one. */
export const LISTED_CONTRACTS: NftContract[] = ["TidalGlyphs", "PaperCranes", "MothAtlas", "LighthouseLetters"];
/** How long an order stands that isn't meant to end early. */
export const ORDER_SECONDS = 30n * 86_400n;

const BROKER_BASIS_POINTS = 250;
const CREATOR_BASIS_POINTS = 500;

/** An order that stands on the chain: no signature is needed to fill it. */
type Order = OrderWithCounter;

/** Something for sale. `items` has more than one where it is a bundle. */
export type Listing = { order: Order; seller: Address; items: readonly Holding[]; endTime: bigint };

/** A bid on one token, or on any of the contract's where there is no id. */
export type Offer = { order: Order; bidder: Address; contract: NftContract; tokenId?: bigint; endTime: bigint };

/** Seaport's own client, and what was put on sale through it. */
export type Market = {
  world: World;
  contracts: Record<NftContract, Address>;
  seaport: Seaport;
  /** Approvals to it serve every version of Seaport; some sellers use it, others approve Seaport itself. */
  conduit: { key: Hex; address: Address };
  listings: Listing[];
  offers: Offer[];
  /** The last order's salt: counted, not drawn, so that each start makes the same orders. */
  salt: number;
  stop: () => void;
};

/** A market without orders. The conduit has its address before `openConduit` opens it. */
export async function createMarket(
  { client }: Miner,
  { rpcUrl, world, contracts }: { rpcUrl: string; world: World; contracts: Record<NftContract, Address> },
): Promise<Market> {
  // Only its creator can open a conduit with a key that begins with their address.
  const key = concat([world.studio, numberToHex(1, { size: 12 })]);
  const [address] = await client.readContract({
    abi: conduitControllerAbi,
    address: CONDUIT_CONTROLLER_ADDRESS,
    functionName: "getConduit",
    args: [key],
  });
  // Answers are never kept: the next block may be a millisecond away. Nor is a request held back to make a batch.
  const options = { staticNetwork: true, cacheTimeout: -1, batchMaxCount: 1 };
  const provider = new JsonRpcProvider(rpcUrl, DEMO_CHAIN_ID, options);
  return {
    world,
    contracts,
    seaport: new Seaport(provider, { conduitKeyToConduit: { [key]: address } }),
    conduit: { key, address },
    listings: [],
    offers: [],
    salt: 0,
    stop: () => provider.destroy(),
  };
}

/** Opens the conduit to Seaport. */
export function openConduit({ world, conduit }: Market): DemoTransaction[] {
  const call = (data: Hex): DemoTransaction => ({ from: world.studio, to: CONDUIT_CONTROLLER_ADDRESS, data });
  return [
    call(
      encodeFunctionData({
        abi: conduitControllerAbi,
        functionName: "createConduit",
        args: [conduit.key, world.studio],
      }),
    ),
    call(
      encodeFunctionData({
        abi: conduitControllerAbi,
        functionName: "updateChannel",
        args: [conduit.address, SEAPORT_ADDRESS, true],
      }),
    ),
  ];
}

/** An order, and the transactions that approve what it needs and put it on the chain (OrderValidated). */
export async function placeOrder(
  market: Market,
  { maker, input }: { maker: Address; input: CreateOrderInput },
): Promise<{ order: Order; transactions: DemoTransaction[] }> {
  market.salt += 1;
  const { actions } = await market.seaport.createOrder({ ...input, salt: market.salt }, maker);
  const transactions: DemoTransaction[] = [];
  let order: Order | undefined;
  for (const action of actions) {
    if (action.type === "approval") transactions.push(await toTransaction(maker, action.transactionMethods));
    else order = { parameters: action.orderComponents, signature: "0x" };
  }
  if (!order) throw new Error("Seaport's client made no order. Expected one after the approvals.");
  transactions.push(await toTransaction(maker, market.seaport.validate([order], maker)));
  return { order, transactions };
}

/** The transactions that fill an order, whole or `units` of it, with the approvals that this takes. */
export async function fillOrder(
  market: Market,
  { order, taker, units, tokenId }: { order: Order; taker: Address; units?: bigint; tokenId?: bigint },
): Promise<DemoTransaction[]> {
  const { actions } = await market.seaport.fulfillOrder({
    order,
    accountAddress: taker,
    unitsToFill: units,
    // An offer on a whole collection is filled with this one of its tokens.
    considerationCriteria: tokenId === undefined ? [] : [{ identifier: tokenId.toString(), proof: [] }],
    conduitKey: order.parameters.conduitKey,
  });
  const transactions: DemoTransaction[] = [];
  for (const action of actions) transactions.push(await toTransaction(taker, action.transactionMethods));
  return transactions;
}

/** What Seaport's client would send, for us to mine. */
export async function toTransaction(from: Address, methods: TransactionMethods): Promise<DemoTransaction> {
  const { to, data, value } = await methods.buildTransaction();
  return { from, to: to as Address, data: data as Hex, value };
}

/** What the marketplace takes of every sale, and the creator of most. */
export function feesOf(world: World) {
  return [
    { recipient: world.broker, basisPoints: BROKER_BASIS_POINTS },
    ...(world.random.chance(60) ? [{ recipient: world.studio, basisPoints: CREATOR_BASIS_POINTS }] : []),
  ];
}

/** 0.02 to 2.52, in steps of 0.02: fees and quarters of it come out even. */
export function pickPrice(world: World): bigint {
  return parseEther("0.02") * BigInt(1 + world.random.below(126));
}
