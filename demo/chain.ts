import { type Address, getContractAddress, type Hex } from "viem";
import { playActivity } from "./activity.ts";
import { DEMO_CHAIN_ID, startAnvil } from "./anvil.ts";
import { type DemoContract, encodeCall, encodeDeployment, NFT_CONTRACTS } from "./artifacts.ts";
import { bookMint } from "./erc721-activity.ts";
import { putCanonicalContracts } from "./exchange.ts";
import { listHistory } from "./history.ts";
import { playMarket } from "./market-activity.ts";
import { createMarket } from "./market.ts";
import { createMiner } from "./miner.ts";
import { startOrigin } from "./origin/server.ts";
import { createRandom } from "./random.ts";
import { type Call, createWorld, PERSONAS, type World } from "./world.ts";

const SEED = 20_240_229;
const HISTORY_SECONDS = 6n * 86_400n;
/** Minted by one ERC-2309 log. */
const CRANES = 120;
/** How much of the live feed is trade. */
const MARKET_PERCENT = 30;

/** The demo's chain and what runs beside it. */
export type DemoChain = {
  rpcUrl: string;
  chainId: number;
  /** `host:port` of the web server with the documents and media of some of the contracts. */
  originHost: string;
  contracts: Record<DemoContract, Address>;
  /** Mines one more event, now. Answers the hashes of its transactions: a trade may take approvals before it. */
  playEvent: () => Promise<Hex[]>;
  /** Settles when anvil has ended, whoever ended it. */
  ended: Promise<void>;
  stop: () => Promise<void>;
};

/**
 * A chain with NFT contracts and six days of activity on them, the same each time but for the hour. It goes on only
 * when `playEvent` is called.
 *
 * @param options.port of the JSON-RPC server, 0 for a free one
 * @param options.originPort of the web server, 0 for a free one
 */
export async function startDemoChain({
  port = 0,
  originPort = 0,
}: { port?: number; originPort?: number } = {}): Promise<DemoChain> {
  const startedAt = nowInSeconds();
  const genesisAt = startedAt - HISTORY_SECONDS;
  // Ends what was started, in reverse, when one of the next steps fails.
  await using started = new AsyncDisposableStack();
  const origin = await startOrigin({ port: originPort });
  started.defer(origin.stop);
  const anvil = await startAnvil({ port, timestamp: genesisAt, accounts: PERSONAS.length });
  started.defer(anvil.stop);

  const miner = createMiner(anvil.rpcUrl);
  const accounts = await miner.client.getAddresses();
  const world = createWorld({ random: createRandom(SEED), accounts });
  // Not the studio, whose transactions count into the contracts' addresses.
  await putCanonicalContracts(miner, { from: world.broker, timestamp: genesisAt + 1n });

  const deployments = listDeployments(world, { originUrl: `http://${origin.host}` });
  const contracts = Object.fromEntries(
    deployments.map(({ contract }, nonce) => [
      contract,
      getContractAddress({ from: world.studio, nonce: BigInt(nonce) }).toLowerCase(),
    ]),
  ) as Record<DemoContract, Address>;
  const toTransaction = ({ from, contract, functionName, args }: Call) => ({
    from,
    to: contracts[contract],
    data: encodeCall(contract, functionName, args),
  });
  const market = await createMarket(miner, { rpcUrl: anvil.rpcUrl, world, contracts });
  started.defer(market.stop);

  const blocks = [
    ...deployments.map(({ data }) => () => [{ from: world.studio, data }]),
    ...listHistory(market, { toTransaction }),
  ];
  for (const [i, listTransactions] of blocks.entries()) {
    const timestamp = startedAt - secondsAgo(world, { block: i, blocks: blocks.length });
    await miner.mineBlock({ transactions: await listTransactions(timestamp), timestamp });
  }

  const playEvent = async () => {
    const timestamp = nowInSeconds();
    const trade = world.random.chance(MARKET_PERCENT) ? await playMarket(market, timestamp) : undefined;
    const transactions = trade ?? [toTransaction(playActivity(world, { feed: "live" }))];
    const receipts = await miner.mineBlock({ transactions, timestamp });
    return receipts.map((receipt) => receipt.transactionHash);
  };
  const running = started.move();
  return {
    rpcUrl: anvil.rpcUrl,
    chainId: DEMO_CHAIN_ID,
    originHost: origin.host,
    contracts,
    playEvent,
    ended: anvil.ended,
    stop: () => running.disposeAsync(),
  };
}

/** Closer together the younger they are: the newest ones are minutes old, and the live feed goes on from there. */
function secondsAgo(world: World, { block, blocks }: { block: number; blocks: number }): bigint {
  const ageOf = (i: number) => Math.floor((Number(HISTORY_SECONDS) * (blocks - i) ** 2) / blocks ** 2);
  return BigInt(ageOf(block) - world.random.below(ageOf(block) - ageOf(block + 1)));
}

function listDeployments(world: World, { originUrl }: { originUrl: string }): { contract: DemoContract; data: Hex }[] {
  bookMint(world, { contract: "PaperCranes", owner: world.studio, quantity: CRANES });
  const constructorArgs: Partial<Record<DemoContract, unknown[]>> = {
    PaperCranes: [world.studio, BigInt(CRANES)],
    MothAtlas: [`${originUrl}/moths/`],
    MeadowSeeds: [`${originUrl}/meadow/{id}.json`],
    Driftwood: [world.collectors],
  };
  return [...NFT_CONTRACTS, "Driftwood" as const].map((contract) => ({
    contract,
    data: encodeDeployment(contract, constructorArgs[contract]),
  }));
}

function nowInSeconds(): bigint {
  return BigInt(Math.floor(Date.now() / 1000));
}
