import { ItemType } from "@opensea/seaport-js/lib/constants.js";
import {
  type Address,
  createPublicClient,
  encodeFunctionData,
  hashDomain,
  http,
  parseAbi,
  parseEventLogs,
  type PublicClient,
} from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CONDUIT_CONTROLLER_ADDRESS } from "../abis/seaport.ts";
import { type DemoChain, startDemoChain } from "./chain.ts";
import { SEAPORT_ADDRESS, WRAPPED_ETHER_ADDRESS } from "./exchange.ts";
import { createMarket, fillOrder } from "./market.ts";
import { createMiner } from "./miner.ts";
import { createRandom } from "./random.ts";
import { createWorld } from "./world.ts";

const seaportAbi = parseAbi([
  "struct SpentItem { uint8 itemType; address token; uint256 identifier; uint256 amount; }",
  "struct ReceivedItem { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }",
  "struct OfferItem { uint8 itemType; address token; uint256 identifierOrCriteria; uint256 startAmount; uint256 endAmount; }",
  "struct ConsiderationItem { uint8 itemType; address token; uint256 identifierOrCriteria; uint256 startAmount; uint256 endAmount; address recipient; }",
  "struct OrderParameters { address offerer; address zone; OfferItem[] offer; ConsiderationItem[] consideration; uint8 orderType; uint256 startTime; uint256 endTime; bytes32 zoneHash; uint256 salt; bytes32 conduitKey; uint256 totalOriginalConsiderationItems; }",
  "event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient, SpentItem[] offer, ReceivedItem[] consideration)",
  "event OrderValidated(bytes32 orderHash, OrderParameters orderParameters)",
  "event OrderCancelled(bytes32 orderHash, address indexed offerer, address indexed zone)",
  "event CounterIncremented(uint256 newCounter, address indexed offerer)",
  "event NewConduit(address conduit, bytes32 conduitKey)",
  "function information() view returns (string version, bytes32 domainSeparator, address conduitController)",
  "function getOrderStatus(bytes32) view returns (bool isValidated, bool isCancelled, uint256 totalFilled, uint256 totalSize)",
  "function ownerOf(uint256) view returns (address)",
]);

let chain: DemoChain;
let client: PublicClient;
beforeAll(async () => {
  chain = await startDemoChain();
  client = createPublicClient({ transport: http(chain.rpcUrl) });
});
afterAll(() => chain?.stop());

test("Seaport 1.6 is at its address, with the signature domain of that address", async () => {
  const [version, domainSeparator, controller] = await client.readContract({
    abi: seaportAbi,
    address: SEAPORT_ADDRESS,
    functionName: "information",
  });
  expect(version).toBe("1.6");
  expect(controller.toLowerCase()).toBe(CONDUIT_CONTROLLER_ADDRESS);
  expect(domainSeparator).toBe(
    hashDomain({
      domain: { name: "Seaport", version: "1.6", chainId: BigInt(chain.chainId), verifyingContract: SEAPORT_ADDRESS },
      types: {
        EIP712Domain: [
          { name: "name", type: "string" },
          { name: "version", type: "string" },
          { name: "chainId", type: "uint256" },
          { name: "verifyingContract", type: "address" },
        ],
      },
    }),
  );
});

test("the history has every transition of an order", async () => {
  const logs = parseEventLogs({ abi: seaportAbi, logs: await client.getLogs({ fromBlock: 0n }) });
  const validated = logs.filter((log) => log.eventName === "OrderValidated");
  const fulfilled = logs.filter((log) => log.eventName === "OrderFulfilled");
  const orders = validated.map((log) => log.args.orderParameters);
  const now = BigInt(Math.floor(Date.now() / 1000));

  expect(logs.filter((log) => log.eventName === "OrderCancelled")).toHaveLength(1);
  expect(logs.filter((log) => log.eventName === "CounterIncremented")).toHaveLength(1);
  expect(logs.filter((log) => log.eventName === "NewConduit")).toHaveLength(1);
  const isOffer = (order: (typeof orders)[number]) => order.offer[0]?.itemType === ItemType.ERC20;
  expect(orders.filter((order) => !isOffer(order)).length).toBeGreaterThanOrEqual(15);
  expect(orders.filter(isOffer).length).toBeGreaterThanOrEqual(4);
  expect(orders.some((order) => order.consideration[0]?.itemType === ItemType.ERC721_WITH_CRITERIA)).toBe(true);
  expect(orders.some((order) => order.offer.length === 2)).toBe(true);
  expect(orders.some((order) => order.endTime < now)).toBe(true);
  expect(orders.filter((order) => order.consideration.some((item) => item.endAmount < item.startAmount)).length).toBe(
    3,
  );
  expect(new Set(orders.map((order) => order.conduitKey)).size).toBe(2);

  expect(fulfilled.filter((log) => log.args.offer[0]?.itemType === ItemType.ERC721).length).toBeGreaterThanOrEqual(4);
  expect(fulfilled.filter((log) => log.args.offer[0]?.itemType === ItemType.ERC1155)).toHaveLength(2);
  const accepted = fulfilled.filter((log) => log.args.offer[0]?.token.toLowerCase() === WRAPPED_ETHER_ADDRESS);
  expect(accepted).toHaveLength(2);
  expect(fulfilled.some((log) => log.args.offer.length === 2)).toBe(true);

  const statuses = await Promise.all(
    validated.map((log) =>
      client.readContract({
        abi: seaportAbi,
        address: SEAPORT_ADDRESS,
        functionName: "getOrderStatus",
        args: [log.args.orderHash],
      }),
    ),
  );
  expect(statuses.filter(([isValidated, , filled]) => isValidated && filled === 0n).length).toBeGreaterThanOrEqual(12);
  expect(statuses.some(([, , filled, size]) => filled > 0n && filled < size)).toBe(true);
});

test("an order that is only signed can be filled too", async () => {
  const miner = createMiner(chain.rpcUrl);
  const accounts = await miner.client.getAddresses();
  const world = createWorld({ random: createRandom(1), accounts });
  const market = await createMarket(miner, { rpcUrl: chain.rpcUrl, world, contracts: chain.contracts });
  const [seller, buyer] = world.collectors as [Address, Address];
  const tokenId = 77_777n;
  const mint = parseAbi(["function mint(address to, uint256 tokenId)", "function setApprovalForAll(address, bool)"]);
  const to = chain.contracts.LighthouseLetters;
  await miner.mineBlock({
    transactions: [
      { from: seller, to, data: encodeFunctionData({ abi: mint, functionName: "mint", args: [seller, tokenId] }) },
      {
        from: seller,
        to,
        data: encodeFunctionData({ abi: mint, functionName: "setApprovalForAll", args: [SEAPORT_ADDRESS, true] }),
      },
    ],
    timestamp: BigInt(Math.floor(Date.now() / 1000)),
  });
  const { executeAllActions } = await market.seaport.createOrder(
    {
      offer: [{ itemType: ItemType.ERC721, token: to, identifier: tokenId.toString() }],
      consideration: [{ amount: "1000000000000000", recipient: seller }],
    },
    seller,
  );
  const order = await executeAllActions();
  expect(order.signature).toMatch(/^0x[0-9a-f]{128}$/);
  await miner.mineBlock({
    transactions: await fillOrder(market, { order, taker: buyer }),
    timestamp: BigInt(Math.floor(Date.now() / 1000)),
  });
  const owner = await client.readContract({ abi: seaportAbi, address: to, functionName: "ownerOf", args: [tokenId] });
  expect(owner).toBe(buyer);
  market.stop();
});
